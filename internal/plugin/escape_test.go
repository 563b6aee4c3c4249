package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/history"
	"github.com/example/appservice-operator/internal/plugin/importer"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

// hostile is a text that tries to end whatever it is printed in: a line, a comment, a document, a quoted word, a cell.
const hostile = "x\n---\napiVersion: v1\nkind: Injected\nmetadata: {name: injected}\n---\nINJECTED 7\t2026-01-01  deployed\r\nINJECTED\rINJECTED\u2028INJECTED\u0085INJECTED" +
	"\x1b[2K\x1b[31mINJECTED\u202e'\"; $(INJECTED) `INJECTED` #"

// stays checks that no line of an output begins with a hostile text, that terminals act on none of it, and which kinds its documents have.
func stays(t *testing.T, output string, kinds ...string) {
	t.Helper()
	lines := strings.FieldsFunc(output, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) }) // those of YAML, too
	for _, line := range lines {
		assert.False(t, strings.HasPrefix(strings.TrimLeft(line, " │├└─"), "INJECTED"), "a line begins with %q", line)
	}
	assert.Equal(t, -1, strings.IndexFunc(output, text.IsControl), "a terminal acts on %q", output)
	for _, document := range strings.Split("\n"+output, "\n---") {
		var object struct{ Kind string }
		if yaml.Unmarshal([]byte(document), &object) == nil && object.Kind != "" {
			assert.Contains(t, kinds, object.Kind)
		}
	}
}

// saysOnly checks the same of messages, whose lines after the first one are indented.
func saysOnly(t *testing.T, output string) {
	t.Helper()
	assert.NotContains(t, "\n"+output, "\nINJECTED")
	assert.NotContains(t, "\n"+output, "\nkind:")
	assert.Equal(t, -1, strings.IndexFunc(output, text.IsControl), "a terminal acts on %q", output)
}

// filled sets each text of a value that JSON shows, or that is exported, to a hostile one.
func filled(value reflect.Value, depth int) {
	switch value.Kind() {
	case reflect.String:
		value.SetString(hostile)
	case reflect.Struct:
		for i := range value.NumField() {
			if value.Type().Field(i).IsExported() {
				filled(value.Field(i), depth)
			}
		}
	case reflect.Slice:
		if depth > 1 && value.Type().Elem().Kind() != reflect.Uint8 {
			value.Set(reflect.MakeSlice(value.Type(), 1, 1))
			filled(value.Index(0), depth-1)
		}
	case reflect.Pointer:
		if depth > 0 && value.Type().Elem() != reflect.TypeFor[metav1.Time]() {
			value.Set(reflect.New(value.Type().Elem()))
			filled(value.Elem(), depth-1)
		}
	case reflect.Map:
		if value.Type() == reflect.TypeFor[map[string]any]() {
			value.Set(reflect.ValueOf(map[string]any{hostile: hostile}))
		}
	}
}

func full[T any]() (value T) {
	filled(reflect.ValueOf(&value).Elem(), 3)
	return value
}

// printing returns a shell, and what it has printed so far on both streams.
func printing() (*cli, *bytes.Buffer) {
	streams, _, out, err := genericiooptions.NewTestIOStreams()
	s := &cli{color: colorNever}
	streams.Out, streams.ErrOut = visibly(out), visibly(out)
	_ = err
	s.IOStreams = streams
	return s, out
}

// Whatever records, conditions and manifests say, it is printed in its place.
func TestWhatIsPrintedStaysInItsPlace(t *testing.T) {
	revision := full[history.Revision]()
	revision.Released = time.Unix(0, 0)
	undamaged, undescribed := revision, revision
	undamaged.Unreadable, undescribed.Unreadable, undescribed.Changes = "", "", nil
	for name, prints := range map[string]func(*cli) error{
		"history of a damaged record": func(s *cli) error { return s.printHistory([]history.Revision{revision}) },
		"history of changes":          func(s *cli) error { return s.printHistory([]history.Revision{undamaged}) },
		"history of a description":    func(s *cli) error { return s.printHistory([]history.Revision{undescribed}) },
		"one revision": func(s *cli) error {
			return s.printRevision("web", []history.Revision{undamaged}, undamaged.Revision, asText)
		},
		"one revision as YAML": func(s *cli) error {
			return s.printRevision("web", []history.Revision{undamaged}, undamaged.Revision, asYAML)
		},
		"a tree":           func(s *cli) error { node := full[tree.Node](); return s.printTree(&node, asText, time.Now()) },
		"a tree as YAML":   func(s *cli) error { node := full[tree.Node](); return s.printTree(&node, asYAML, time.Now()) },
		"a row of a table": func(s *cli) error { return printTable(s.Out, 0, 1, []string{"A", "B"}, [][]string{{hostile, hostile}}) },
		"a wrapped table": func(s *cli) error {
			return printTable(s.Out, columns, 1, []string{"A", "B"}, [][]string{{"a", hostile}})
		},
		"notes of an import": func(s *cli) error {
			(&importOptions{cli: s, notes: notesComments}).printNotes([]read.Note{full[read.Note]()})
			return nil
		},
		"notes of an import on stderr": func(s *cli) error {
			(&importOptions{cli: s, notes: notesStderr}).printNotes([]read.Note{full[read.Note]()})
			return nil
		},
		"what is not imported": func(s *cli) error {
			return (&importOptions{cli: s, notes: notesComments}).print(&importer.Import{Failed: []read.Failure{{Object: hostile, Err: fmt.Errorf("%s", hostile)}}, Left: []read.Note{full[read.Note]()}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, out := printing()
			if err := prints(s); err != nil && !strings.Contains(name, "not imported") {
				t.Fatal(err)
			}
			require.NotEmpty(t, out.String())
			stays(t, out.String(), hostile)
		})
	}
}

// leaves calls for each text of a value, and for each key of a map, with the value in which it is a hostile one.
func leaves(value any, changed func(any)) {
	switch value := value.(type) {
	case map[string]any:
		for key, content := range value {
			with := func(key string, content any) {
				other := map[string]any{}
				for k, c := range value {
					other[k] = c
				}
				other[key] = content
				changed(other)
			}
			leaves(content, func(c any) { with(key, c) })
			with(hostile, content)
		}
	case []any:
		for i, content := range value {
			leaves(content, func(c any) {
				other := append([]any{}, value...)
				other[i] = c
				changed(other)
			})
		}
	default:
		changed(hostile)
	}
}

// written returns a value as JSON in ASCII, in which YAML loses nothing.
func written(t *testing.T, value any) string {
	t.Helper()
	printed, err := json.Marshal(value)
	require.NoError(t, err)
	var out strings.Builder
	for _, r := range string(printed) {
		if r < 0x7f {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// Each text of each object that a manifest may have beside a workload, by the types of Kubernetes: it comes into notes.
func TestTheTextOfAManifestStaysInItsPlace(t *testing.T) {
	t.Parallel()
	const workload = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web, labels: {a: b}, annotations: {a: b}}, spec: {selector: {matchLabels: {app: web}}, strategy: {type: Recreate},
  template: {metadata: {labels: {app: web}, annotations: {a: b}}, spec: {priorityClassName: a, nodeName: b, hostAliases: [{ip: 1.1.1.1, hostnames: [a]}], containers: [{name: app, image: a,
  env: [{name: A, value: b}], ports: [{name: http, containerPort: 80}], volumeMounts: [{name: v, mountPath: /a}]}], volumes: [{name: v, configMap: {name: c}}]}}}}`
	const beside = `{apiVersion: v1, kind: Service, metadata: {name: web, annotations: {a: b}}, spec: {selector: {app: web}, type: LoadBalancer, externalIPs: [1.1.1.1], loadBalancerIP: 1.1.1.1,
  loadBalancerSourceRanges: [a], externalName: a, sessionAffinity: a, clusterIP: a, ports: [{name: http, port: 80, targetPort: http, protocol: TCP, appProtocol: a}]}}`
	const others = `{apiVersion: v1, kind: ConfigMap, metadata: {name: other, namespace: there}, data: {a: b}}`
	const routes = `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, annotations: {a: b}}, spec: {ingressClassName: a, tls: [{secretName: a, hosts: [b]}],
  rules: [{host: a, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {name: http}}}}]}}]}}`
	documents := []string{workload, beside, others, routes}
	count := 0
	for at, document := range documents {
		object := map[string]any{}
		require.NoError(t, yaml.Unmarshal([]byte(document), &object))
		leaves(object, func(changed any) {
			count++
			all := append([]string{}, documents...)
			all[at] = written(t, changed)
			t.Run(fmt.Sprint(count), func(t *testing.T) {
				t.Parallel()
				_, stdout, stderr := run(t, map[string]string{"file.yaml": strings.Join(all, "\n---\n")}, "import -f DIR/file.yaml --notes comments")
				stays(t, stdout, "AppService", "AppJob")
				saysOnly(t, stderr)
			})
		})
	}
}

// Objects of all kinds that Kubernetes knows, with a hostile text in each field.
func TestTheTextOfAnyObjectStaysInItsPlace(t *testing.T) {
	t.Parallel()
	const workload = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {selector: {matchLabels: {app: web}}, template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: a}]}}}}`
	for kind, of := range scheme.Scheme.AllKnownTypes() {
		if kind.Version != "v1" || kind.Kind == "WatchEvent" || strings.HasSuffix(kind.Kind, "List") || strings.HasSuffix(kind.Kind, "Options") {
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			t.Parallel()
			object := reflect.New(of)
			filled(object.Elem(), 6)
			text, err := json.Marshal(object.Interface())
			if err != nil {
				t.Skipf("it is not written: %v", err)
			}
			content := map[string]any{}
			require.NoError(t, json.Unmarshal(text, &content))
			content["apiVersion"], content["kind"] = kind.GroupVersion().String(), kind.Kind
			_, stdout, stderr := run(t, map[string]string{"file.yaml": workload + "\n---\n" + written(t, content)}, "import -f DIR/file.yaml --notes comments")
			stays(t, stdout, "AppService", "AppJob")
			saysOnly(t, stderr)
		})
	}
}

// Each text of an AppService, in the commands that read a file and need no cluster.
func TestTheTextOfAnAppServiceStaysInItsPlace(t *testing.T) {
	t.Parallel()
	object := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(anApp+`  config: {environment: {A: b}, files: {a: b}}
  envs: [{name: A, value: b}]
  podAnnotations: {a: b}
  ingress: {className: a, annotations: {nginx.ingress.kubernetes.io/a: b}, hosts: [{host: a.example.com, paths: [{path: /, pathType: Prefix}]}], tls: [{secretName: a, hosts: [a.example.com]}]}
  claims: [{name: a, size: 1Gi, mounts: [{path: /a}]}]
  sidecars: [{name: b, image: c, args: [d]}]
`), &object))
	count := 0
	leaves(object, func(changed any) {
		count++
		manifest := written(t, changed)
		for _, command := range []string{"validate -f DIR/file.yaml", "render -f DIR/file.yaml", "convert-ingress -f DIR/file.yaml --gateway infra/public"} {
			t.Run(fmt.Sprint(count, " ", command), func(t *testing.T) {
				t.Parallel()
				_, stdout, stderr := run(t, map[string]string{"file.yaml": manifest}, command)
				stays(t, stdout, "AppService", "ConfigMap", "Deployment", "Service", "Ingress", "PersistentVolumeClaim", "PodDisruptionBudget", "NetworkPolicy")
				saysOnly(t, stderr)
			})
		}
	})
}
