package render

import (
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/postrender"
)

// payloads are texts that mean something to YAML, to templates or to Helm, by what they are.
var payloads = map[string]string{
	"a key on a line of its own":      "x\nhostNetwork: true",
	"a deeper key":                    "x\n  hostNetwork: true\n",
	"a key behind a quote":            "x\"\nhostNetwork: true\ny: \"z",
	"a document":                      "x\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: evil}\n",
	"a document behind a quote":       "x\"\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: evil}\nx: \"",
	"a separator":                     "---",
	"a separator in lines":            "\n---\n",
	"an end of document":              "x\n...\ny",
	"a directive":                     "%YAML 1.2",
	"an action":                       "{{ .Release.Name }}",
	"an action that fails":            `{{ fail "no" }}`,
	"an open action":                  "{{",
	"a closed action":                 "}}",
	"what a template says of nothing": "<no value>",
	"a mark of an error":              "HELM_ERR_START x HELM_ERR_END",
	"an alias":                        "*a",
	"an anchor":                       "&a x",
	"a tag":                           "!!",
	"a tag of a type":                 "!!binary eA==",
	"a merge":                         "<<",
	"yes":                             "yes",
	"no":                              "no",
	"y":                               "y",
	"true":                            "true",
	"null":                            "null",
	"a tilde":                         "~",
	"an exponent":                     "1e3",
	"a hexadecimal number":            "0x1F",
	"an octal number":                 "0o17",
	"an octal number of old":          "017",
	"a binary number":                 "0b11",
	"a number with separators":        "1_000",
	"a version":                       "1.10",
	"a sexagesimal number":            "12:30:45",
	"no number":                       ".nan",
	"infinity":                        "-.inf",
	"a date":                          "2001-12-14",
	"an equals sign":                  "=",
	"a map":                           "{a: b}",
	"a list":                          "[a, b]",
	"an item":                         "- a",
	"a key":                           "a: b",
	"a key without a value":           "a:",
	"a complex key":                   "? a",
	"a comment":                       "# a",
	"a text and a comment":            "a # b",
	"a literal":                       "|",
	"a folded text":                   ">-\n  a",
	"an at sign":                      "@a",
	"a backquote":                     "`a`",
	"double quotes":                   `"a" "b`,
	"single quotes":                   `'a' 'b`,
	"backslashes":                     `\n \x41 \" \`,
	"a dollar":                        "$HOME ${HOME} $(HOME) $$",
	"a space":                         " ",
	"spaces at both ends":             "  a  ",
	"spaces at the end of lines":      "a  \nb  \n",
	"tabs":                            "\ta\t",
	"a line end":                      "a\n",
	"two line ends":                   "a\n\n",
	"line ends alone":                 "\n\n",
	"a line end at the start":         "\na",
	"an indented first line":          "  a\nb",
	"line ends of Windows":            "a\r\nb\r\n",
	"a carriage return":               "a\rb",
	"a line separator":                "a\u2028b",
	"a paragraph separator":           "a\u2029b",
	"a next line":                     "a\u0085b",
	"a byte order mark":               "\ufeffa",
	"a byte order mark within":        "a\ufeffb",
	"a space that does not break":     "a\u00a0b",
	"a space of no width":             "a\u200bb",
	"a reversal":                      "a\u202eb",
	"a letter and its accent":         "e\u0301 \u00e9",
	"a rocket":                        "🚀 \U0010fffd",
	"a private letter":                "\ue000 \U000f0000",
	"a replacement":                   "\ufffd",
	"no letters":                      "\ufffe\uffff \U0001ffff",
	"a zero":                          "a\x00b",
	"a bell":                          "\a\b\v\f\x1b",
	"a delete":                        "a\x7fb",
	"a control of the second set":     "a\u0080\u009fb",
	"markup":                          `<a href="b">&amp;</a>`,
	"10 kB":                           strings.Repeat("0123456789", 1024),
	"10 kB of words and lines":        strings.Repeat(strings.Repeat("word ", 40)+"\nkey: value # more\n", 47),
}

// manyRenders skips a test that renders hundreds of times where -short is set: the race detector makes that minutes, and
// has nothing to find in renders one after the other. "make test-unit" runs them without it.
func manyRenders(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("it renders hundreds of times: run it without -short and without the race detector")
	}
}

// refusable names the payloads that may be refused instead: YAML has no plain way to say them, and nobody needs them.
// What is refused must be refused; nothing may change or drop it in silence.
var refusable = []string{"what a template says of nothing", "a next line", "no letters", "a delete", "a control of the second set"}

// validated tells where a text must be of a form, so that an error is as good as the text itself.
var validated = []string{
	".protocol", ".pathType", ".divisor", // sets of words, quantities
	".requests.", ".limits.", // quantities
	".ports[0].name", ".ports[1].name", // at most 15 characters
	".persistence.size", ".sizeLimit", ".averageValue", // quantities
	".profile", ".service.type", ".sessionAffinity", ".externalTrafficPolicy", ".imagePullPolicy", // sets of words
}

func isValidated(l leaf) bool {
	return slices.ContainsFunc(validated, func(part string) bool { return strings.Contains(l.String(), part) })
}

// texts are the leaves that a spec may fill with any text.
func texts(resource *unstructured.Unstructured) []leaf {
	return slices.DeleteFunc(leaves(resource), func(l leaf) bool {
		_, text := l.value.(string)
		return !text || isValidated(l)
	})
}

// TestNoTextBecomesMoreThanAText puts each payload into the texts of a spec, past the schema of the custom resource
// definition. The objects must be those of a harmless word in that place, with the payload instead, byte for byte.
func TestNoTextBecomesMoreThanAText(t *testing.T) {
	manyRenders(t)
	// What comes last in a document ends with it: a short spec has other ends than a long one.
	specs := map[string]string{
		"with an image alone":         `{image: a}`,
		"with envs last":              `{image: a, envs: [{name: a, value: b}]}`,
		"with a source last":          `{image: a, envs: [{name: a, valueFrom: {secretKeyRef: {name: b, key: c}}}]}`,
		"with envFrom last":           `{image: a, envFrom: [{configMapRef: {name: b}}, {prefix: c, secretRef: {name: d}}]}`,
		"with a log level last":       `{image: a, config: {logLevel: b}}`,
		"with a database secret last": `{image: a, config: {databaseUrlFrom: {secretKeyRef: {key: a, name: b}}}}`,
		"with a database":             `{image: a, config: {databaseUrl: b}}`,
		"with an environment":         `{image: a, config: {environment: {A: b}}}`,
		"with claims last":            `{image: a, resources: {claims: [{name: a, request: b}]}}`,
		"with tls hosts last":         `{image: a, ports: [{port: 80}], ingress: {hosts: [{host: b}], tls: [{hosts: [b, c]}]}}`,
		"with args last":              `{image: a, command: [b], args: [c, d]}`,
		"with a folder last":          `{image: a, workingDir: b}`,
		"with a volume last":          `{image: a, volumes: [{name: b, secret: {secretName: c}}]}`,
		"with a mount last":           `{image: a, volumes: [{name: b, emptyDir: {}}], volumeMounts: [{name: b, mountPath: c}]}`,
		"with files":                  `{image: a, config: {files: {b: c}, mountPath: d}}`,
		"with an account":             `{image: a, serviceAccount: {create: true, annotations: {b: c}}}`,
		"with an account of another":  `{image: a, serviceAccount: {name: b}}`,
		"with labels":                 `{image: a, ports: [{port: 80}], monitoring: {enabled: true}, commonLabels: {b: c}, podLabels: {d: e}, podAnnotations: {f: g}}`,
		"with annotations":            `{image: a, ports: [{port: 80, appProtocol: b}], service: {annotations: {c: d}, loadBalancerSourceRanges: [e], loadBalancerClass: f}}`,
		"with a route":                `{image: a, ports: [{port: 80}], route: {parentRefs: [{name: b}], hostnames: [c]}}`,
		"with a timeout last":         `{image: a, ports: [{port: 80}], route: {parentRefs: [{name: b}], rules: [{requestTimeout: c}]}}`,
		"with a header last":          `{image: a, ports: [{port: 80}], route: {parentRefs: [{name: b}], rules: [{matches: [{headers: {c: d}}]}]}}`,
		"with peers last":             `{image: a, ports: [{port: 80}], networkPolicy: {enabled: true, from: [{podSelector: {matchLabels: {b: c}}}]}}`,
		"with a budget":               `{image: a, podDisruptionBudget: {enabled: true, maxUnavailable: b}}`,
		"with the least of a budget":  `{image: a, podDisruptionBudget: {enabled: true, minAvailable: b}}`,
		"with a storage class":        `{image: a, persistence: {size: 1Gi, mountPath: b, storageClassName: c, accessModes: [d]}}`,
		"with a scrape last":          `{image: a, ports: [{port: 80}], monitoring: {enabled: true, path: b, interval: c, labels: {d: e}}}`,
		"with a metric last":          `{image: a, autoscaling: {maxReplicas: 2, metrics: [{type: b, pods: {metric: {name: c}, target: {type: d}}}]}}`,
		"with spread pods":            `{image: a, topologySpreadConstraints: [{topologyKey: b, maxSkew: 1, whenUnsatisfiable: c}]}`,
		"with probes":                 `{image: a, ports: [{port: 80}], probes: {readiness: {httpGet: {path: b}}, liveness: {exec: {command: [c]}}, startup: {grpc: {service: d}}}}`,
		"with other containers":       `{image: a, initContainers: [{name: b, image: c}], sidecars: [{name: d, image: e, args: [f]}]}`,
		"with security":               `{image: a, security: {pod: {seccompProfile: {type: b}}, container: {capabilities: {add: [c], drop: [d]}, seLinuxOptions: {level: e}}}}`,
		"with names":                  `{image: a, hostAliases: [{ip: b, hostnames: [c]}], dnsConfig: {searches: [d]}, priorityClassName: e, nodeSelector: {f: g}}`,
	}
	t.Run("with everything", func(t *testing.T) {
		t.Parallel()
		all := everything(t)
		unstructured.RemoveNestedField(all.Object, "spec", "serviceAccount", "name") // names an object, as it should
		textsArrive(t, all)
	})
	for name, spec := range specs {
		t.Run(name, func(t *testing.T) { t.Parallel(); textsArrive(t, appService(t, spec)) })
	}
}

// marker is a text for the leaf of a number that no part of the chart has.
func marker(i int) string { return fmt.Sprintf("zz%dzz", i) }

func textsArrive(t *testing.T, resource *unstructured.Unstructured) {
	t.Helper()
	renderer, list := unguarded(t), texts(resource)
	for i, l := range list {
		l.set(resource, marker(i))
	}
	base := rendered(t, renderer, resource)
	for i, l := range list {
		if reflect.DeepEqual(replaced(base, marker(i), "other"), replaced(base)) {
			t.Errorf("%s arrives nowhere", l)
		}
	}
	for name, payload := range payloads {
		// All texts at once first: most payloads do no harm, and one render tells. Else halves, down to the culprits.
		var try func(from, to int)
		try = func(from, to int) {
			changed, pairs := resource.DeepCopy(), make([]string, 0, 2*(to-from))
			for i := from; i < to; i++ {
				list[i].set(changed, payload)
				pairs = append(pairs, marker(i), payload)
			}
			problems := arrives(t, renderer, changed, replaced(base, pairs...))
			switch {
			case problems == nil:
			case to-from > 1:
				try(from, (from+to)/2)
				try((from+to)/2, to)
			case len(problems) == 1 && problems[0] == refused && slices.Contains(refusable, name):
			default:
				for _, problem := range problems {
					t.Errorf("%s, %s: %s", name, list[from], problem)
				}
			}
		}
		try(0, len(list))
	}
}

const refused = "the spec is refused"

// arrives lists what is wrong with what is rendered.
func arrives(t *testing.T, renderer *Renderer, resource *unstructured.Unstructured, want any) []string {
	t.Helper()
	got, err := renderer.Render(t.Context(), resource, everyKind)
	var invalid *InvalidSpecError
	if errors.As(err, &invalid) {
		return []string{refused}
	}
	if err != nil {
		return []string{err.Error()}
	}
	return differences("", replaced(got), want)
}

// replaced is what the objects hold, by kind and name, with other texts in place of some, given in pairs, and without
// what is computed from all of it.
func replaced(result *Result, pairs ...string) map[string]any {
	texts := map[string]string{}
	for i := 0; i < len(pairs); i += 2 {
		texts[pairs[i]] = pairs[i+1]
		texts[base64.StdEncoding.EncodeToString([]byte(pairs[i]))] = base64.StdEncoding.EncodeToString([]byte(pairs[i+1]))
	}
	var walk func(value any) any
	walk = func(value any) any {
		switch value := value.(type) {
		case map[string]any:
			out := map[string]any{}
			for key, item := range value {
				if key == postrender.AnnotationStamp || key == "app.example.com/config-checksum" {
					item = "computed"
				}
				out[walk(key).(string)] = walk(item)
			}
			return out
		case []any:
			out := make([]any, 0, len(value))
			for _, item := range value {
				out = append(out, walk(item))
			}
			return out
		case string:
			if other, found := texts[value]; found {
				return other
			}
		}
		return value
	}
	objects := map[string]any{}
	for _, object := range result.Objects {
		objects[KeyOf(object).String()] = walk(object.Object)
	}
	return objects
}

// differences names each place where two values differ.
func differences(path string, got, want any) []string {
	a, isMap := got.(map[string]any)
	b, areMaps := want.(map[string]any)
	if isMap && areMaps {
		var list []string
		for _, key := range slices.Sorted(maps.Keys(a)) {
			if _, found := b[key]; !found {
				list = append(list, fmt.Sprintf("%s has %.40q", path, key))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(b)) {
			item, found := a[key]
			if !found {
				list = append(list, fmt.Sprintf("%s lacks %.40q", path, key))
				continue
			}
			list = append(list, differences(path+"."+key, item, b[key])...)
		}
		return list
	}
	c, isList := got.([]any)
	d, areLists := want.([]any)
	if isList && areLists && len(c) == len(d) {
		var list []string
		for i := range c {
			list = append(list, differences(fmt.Sprintf("%s[%d]", path, i), c[i], d[i])...)
		}
		return list
	}
	if reflect.DeepEqual(got, want) {
		return nil
	}
	return []string{fmt.Sprintf("%.80s: got %s, want %s", path, short(got), short(want))}
}

// short shows both ends of a value.
func short(value any) string {
	text := fmt.Sprintf("%q", fmt.Sprint(value))
	if len(text) > 80 {
		return text[:40] + " ... " + text[len(text)-30:]
	}
	return text
}

// TestTextsOfAFormAreRefusedOrHarmless puts each payload where only some texts are valid.
func TestTextsOfAFormAreRefusedOrHarmless(t *testing.T) {
	manyRenders(t)
	const spec = `
  image: a
  imagePullPolicy: Always
  security: {profile: Restricted}
  service: {type: ClusterIP, sessionAffinity: None, externalTrafficPolicy: Local}
  route: {parentRefs: [{name: a}], rules: [{matches: [{pathType: Exact}]}]}
  networkPolicy: {enabled: true, egress: [{ports: [{port: 53, protocol: UDP}]}]}
  volumes: [{name: a, emptyDir: {sizeLimit: 1Gi}}]
  persistence: {size: 1Gi, mountPath: /a}
  autoscaling: {maxReplicas: 2, metrics: [{type: Pods, pods: {metric: {name: a}, target: {type: AverageValue, averageValue: "1"}}}]}
  resources: {requests: {cpu: "1"}, limits: {cpu: "1"}}
  envs: [{name: A, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "1"}}}]
  ports: [{name: a, port: 80, protocol: TCP}, {name: b, port: 81, protocol: UDP}]
  ingress: {hosts: [{host: a, paths: [{pathType: Exact}]}]}
`
	renderer := unguarded(t)
	want := keysOf(rendered(t, renderer, appService(t, spec)))
	for _, l := range leaves(appService(t, spec)) {
		if !isValidated(l) {
			continue
		}
		t.Run(l.String(), func(t *testing.T) {
			t.Parallel()
			resource := appService(t, spec)
			l.set(resource, marker(0))
			base, baseErr := renderer.Render(t.Context(), resource, everyKind)
			for name, payload := range payloads {
				l.set(resource, payload)
				got, err := renderer.Render(t.Context(), resource, everyKind)
				switch {
				case err != nil && strings.Contains(err.Error(), "\n"):
					t.Errorf("%s: the error has more than one line: %v", name, err)
				case err != nil:
				case keysOf(got) != want:
					t.Errorf("%s: got %s, want %s", name, keysOf(got), want)
				case baseErr == nil:
					for _, problem := range differences("", replaced(got), replaced(base, marker(0), payload)) {
						t.Errorf("%s: %s", name, problem)
					}
				}
			}
		})
	}
}

func keysOf(result *Result) string {
	var keys []string
	for _, object := range result.Objects {
		keys = append(keys, KeyOf(object).String())
	}
	return strings.Join(keys, ", ")
}

// TestManifestKeepsEveryText reads printed payloads back: the release record holds what is printed.
func TestManifestKeepsEveryText(t *testing.T) {
	renderer := unguarded(t)
	for name, payload := range payloads {
		t.Run(name, func(t *testing.T) {
			resource := appService(t, "{image: a, config: {environment: {A: b}}}")
			if err := unstructured.SetNestedField(resource.Object, payload, "spec", "config", "environment", "A"); err != nil {
				t.Fatal(err)
			}
			result, err := renderer.Render(t.Context(), resource, everyKind)
			var invalid *InvalidSpecError
			if errors.As(err, &invalid) && slices.Contains(refusable, name) {
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			readsBack(t, result)
		})
	}
}

// TestEveryLetterArrives puts all letters that there are into the configuration and into a variable, those aside that
// may be refused. Of the many beyond U+3000 it takes one in 31.
func TestEveryLetterArrives(t *testing.T) {
	environment, envs := map[string]any{}, []any{}
	for plane := range 17 {
		var letters strings.Builder
		for r := rune(plane) << 16; r < rune(plane+1)<<16; r++ {
			surrogate, control := r >= 0xd800 && r < 0xe000, r >= 0x7f && r < 0xa0
			if surrogate || control || r&0xfffe == 0xfffe || r > 0x3000 && r%31 != 0 {
				continue
			}
			letters.WriteRune(r)
		}
		name := fmt.Sprintf("PLANE_%d", plane)
		environment[name] = letters.String()
		envs = append(envs, map[string]any{"name": name, "value": letters.String()})
	}
	resource := appService(t, "{image: a}")
	resource.Object["spec"].(map[string]any)["config"] = map[string]any{"environment": environment}
	resource.Object["spec"].(map[string]any)["envs"] = envs
	result := rendered(t, shipped(t), resource)
	for _, problem := range differences("data", find(t, result, "ConfigMap", "web-config").Object["data"], environment) {
		t.Error(problem)
	}
	containers, _, _ := unstructured.NestedSlice(find(t, result, "Deployment", "web").Object, "spec", "template", "spec", "containers")
	for _, problem := range differences("env", containers[0].(map[string]any)["env"], envs) {
		t.Error(problem)
	}
}

// TestNoKeyBecomesMoreThanAKey does the same with the keys of maps. No payload is a valid key, so any may be refused.
func TestNoKeyBecomesMoreThanAKey(t *testing.T) {
	manyRenders(t)
	renderer := unguarded(t)
	cases := map[string]string{
		"of the environment":     `{image: a, config: {environment: {A: b, %s: value}}}`,
		"of annotations":         `{image: a, ports: [{port: 80}], ingress: {hosts: [{host: b}], annotations: {A: b, %s: value}}}`,
		"of annotations, issued": `{image: a, ports: [{port: 80}], ingress: {hosts: [{host: b}], issuer: c, annotations: {%s: value}}}`,
		"of resources":           `{image: a, resources: {limits: {%s: 1}}}`,
		"of files":               `{image: a, config: {files: {A: b, %s: value}}}`,
		"of labels of pods":      `{image: a, podLabels: {A: b, %s: value}}`,
		"of common labels":       `{image: a, size: 2, ports: [{port: 80}], monitoring: {enabled: true}, commonLabels: {%s: value}}`,
		"of labels to monitor":   `{image: a, ports: [{port: 80}], monitoring: {enabled: true, labels: {%s: value}}}`,
		"of annotations of pods": `{image: a, podAnnotations: {%s: value}}`,
		"of a Service":           `{image: a, ports: [{port: 80}], service: {annotations: {A: b, %s: value}}}`,
		"of a ServiceAccount":    `{image: a, serviceAccount: {create: true, annotations: {%s: value}}}`,
		"of headers":             `{image: a, ports: [{port: 80}], route: {parentRefs: [{name: b}], rules: [{matches: [{headers: {%s: value}}]}]}}`,
		"of nodes":               `{image: a, nodeSelector: {%s: value}}`,
		"of peers":               `{image: a, ports: [{port: 80}], networkPolicy: {enabled: true, from: [{podSelector: {matchLabels: {%s: value}}}]}}`,
	}
	for name, spec := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			build := func(key string) *unstructured.Unstructured {
				object := appService(t, fmt.Sprintf(spec, marker(0)))
				renameKey(object.Object, marker(0), key)
				return object
			}
			base := rendered(t, renderer, build(marker(0)))
			for name, payload := range payloads {
				got, err := renderer.Render(t.Context(), build(payload), everyKind)
				if err != nil {
					if strings.Contains(err.Error(), "\n") {
						t.Errorf("%s: the error has more than one line: %v", name, err)
					}
					continue
				}
				for _, problem := range differences("", replaced(got), replaced(base, marker(0), payload)) {
					t.Errorf("%s: %s", name, problem)
				}
			}
		})
	}
}

func objectOf(result *Result, kind string) *unstructured.Unstructured {
	for _, object := range result.Objects {
		if object.GetKind() == kind {
			return object
		}
	}
	return &unstructured.Unstructured{}
}

func renameKey(value any, from, to string) {
	switch value := value.(type) {
	case map[string]any:
		if item, found := value[from]; found {
			delete(value, from)
			value[to] = item
		}
		for _, item := range value {
			renameKey(item, from, to)
		}
	case []any:
		for _, item := range value {
			renameKey(item, from, to)
		}
	}
}

// TestNoAnnotationTakesAnObjectAway: what Helm and the operator know objects by is not for a spec to say.
func TestNoAnnotationTakesAnObjectAway(t *testing.T) {
	specs := map[string]string{
		"Ingress":        `{image: a, ports: [{port: 80}], ingress: {hosts: [{host: b}], annotations: {%s: %s}}}`,
		"Service":        `{image: a, ports: [{port: 80}], service: {annotations: {%s: %s}}}`,
		"ServiceAccount": `{image: a, serviceAccount: {create: true, annotations: {%s: %s}}}`,
	}
	renderer := unguarded(t)
	cases := map[string][2]string{
		"a Helm hook":            {"helm.sh/hook", "pre-install"},
		"a test":                 {"helm.sh/hook", "test"},
		"an unknown Helm hook":   {"helm.sh/hook", "nothing"},
		"a weight":               {"helm.sh/hook-weight", "5"},
		"another release":        {"meta.helm.sh/release-name", "other"},
		"another namespace":      {"meta.helm.sh/release-namespace", "other"},
		"another stamp":          {postrender.AnnotationStamp, "0123"},
		"what outlives its time": {"helm.sh/resource-policy", "keep"},
	}
	for kind, spec := range specs {
		want := rendered(t, renderer, appService(t, fmt.Sprintf(spec, "example.com/note", "text")))
		for name, annotation := range cases {
			t.Run(kind+", "+name, func(t *testing.T) {
				got, err := renderer.Render(t.Context(), appService(t, fmt.Sprintf(spec, annotation[0], annotation[1])), everyKind)
				if err != nil {
					return // refused is well, too
				}
				if keysOf(got) != keysOf(want) {
					t.Fatalf("got %s, want %s", keysOf(got), keysOf(want))
				}
				object := objectOf(got, kind)
				if found := object.GetAnnotations(); found["meta.helm.sh/release-name"] != "web" || found["meta.helm.sh/release-namespace"] != "shop" {
					t.Errorf("the %s says that it belongs to another: %v", kind, found)
				}
				if stamp := object.GetAnnotations()[postrender.AnnotationStamp]; len(stamp) != 32 {
					t.Errorf("the stamp is %q", stamp)
				}
				if len(object.GetOwnerReferences()) != 1 {
					t.Errorf("the %s has no owner: it stays for ever", kind)
				}
			})
		}
	}
}
