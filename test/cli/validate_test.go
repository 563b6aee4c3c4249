//go:build cluster

package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"k8s.io/client-go/rest"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/internal/plugin"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// head is the beginning of AppServices in these tests.
const head = "apiVersion: app.example.com/v1\nkind: AppService\nmetadata: {name: web}\nspec:\n  image: nginx\n"

// Each is sent to the API server as a dry run, and to validate, which works offline. Both say the same.
func TestValidateSaysWhatTheAPIServerSays(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	job := strings.Replace(head, "AppService", "AppJob", 1)
	for name, text := range map[string]string{
		"an AppService":                  head + "  ports: [{port: 80}]\n",
		"an AppJob":                      job + "  schedule: '0 3 * * *'\n",
		"JSON":                           `{"apiVersion": "app.example.com/v1", "kind": "AppService", "metadata": {"name": "web"}, "spec": {"image": "nginx"}}`,
		"a name that the server makes":   strings.Replace(head, "name: web", "generateName: web-", 1),
		"what the server sets":           strings.Replace(head, "name: web", "name: web, uid: a, generation: 7, resourceVersion: '', managedFields: []", 1),
		"a status":                       head + "status: {phase: Running}\n",
		"a status that does not fit":     head + "status: {phase: 7}\n",
		"a field that is null":           head + "  ports: null\n",
		"a required field that is null":  strings.Replace(head, "image: nginx", "image: null", 1),
		"a spec that is null":            strings.Replace(head, "spec:\n  image: nginx\n", "spec: null\n", 1),
		"an unknown field":               head + "  imagee: nginx\n",
		"unknown fields, one in a list":  head + "  imagee: nginx\n  ports: [{port: 80, protokoll: TCP}]\n",
		"an unknown field of an AppJob":  job + "  ports: []\n",
		"an unknown field at the top":    head + "sepc: {}\n",
		"an unknown field of metadata":   strings.Replace(head, "name: web", "name: web, label: {}", 1),
		"an unknown field of the status": head + "status: {phaze: Running}\n",
		"unknown fields, and more":       head + "  imagee: nginx\n  ports: [{port: 0}]\n",
		"no spec":                        strings.Split(head, "spec:")[0],
		"a required field":               strings.Replace(head, "image: nginx", "size: 2", 1),
		"a text for a number":            head + "  size: two\n",
		"a fraction for a whole number":  head + "  size: 1.5\n",
		"a whole number with a fraction": head + "  size: 2.0\n",
		"a number that is too large":     head + "  size: 4294967296\n",
		"a text for a list":              head + "  ports: '80'\n",
		"a list for a text":              strings.Replace(head, "nginx", "[nginx]", 1),
		"a text for the spec":            strings.Replace(head, "spec:\n  image: nginx\n", "spec: nginx\n", 1),
		"a number below its bound":       head + "  ports: [{port: 0}]\n",
		"a number above its bound":       head + "  ports: [{port: 65536}]\n",
		"a text that is empty":           strings.Replace(head, "nginx", "''", 1),
		"a text that is too long":        strings.Replace(head, "nginx", strings.Repeat("a", 2000), 1),
		"a text of another form":         head + "  ttl: soon\n",
		"a value that is none of a set":  head + "  service: {type: ExternalName}\n",
		"an entry twice":                 head + "  ports: [{name: a, port: 80}, {name: a, port: 80}]\n",
		"too many entries":               head + "  args: [" + strings.Repeat("a, ", 2000) + "a]\n",
		"a rule of the spec":             head + "  ingress: {hosts: [{host: a.example.com}]}\n",
		"a rule of a field":              head + "  commonLabels: {helm.sh/a: b}\n",
		"a rule of an entry":             head + "  ports: [{port: 80, name: '12'}]\n",
		"two rules":                      head + "  commonLabels: {helm.sh/a: b}\n  podAnnotations: {helm.sh/a: b}\n",
		"a rule of an AppJob":            job + "  timeZone: Europe/Berlin\n",
		"schema and rules":               head + "  commonLabels: {helm.sh/a: b}\n  ports: [{port: 0}]\n",
		"a name that is too long":        strings.Replace(head, "name: web", "name: "+strings.Repeat("a", 54), 1),
		"no name":                        strings.Replace(head, "name: web", "labels: {}", 1),
		"no metadata":                    strings.Replace(head, "metadata: {name: web}\n", "", 1),
		"a label that is none":           strings.Replace(head, "name: web", "name: web, labels: {'a b': c}", 1),
		"annotations that are too large": strings.Replace(head, "name: web", "name: web, annotations: {a: "+strings.Repeat("a", 300<<10)+"}", 1),
		"a finalizer that is none":       strings.Replace(head, "name: web", "name: web, finalizers: ['a b']", 1),
	} {
		t.Run(name, func(t *testing.T) {
			server, offline := dryRun(t, namespace, text), validated(t, namespace, text)
			if len(server) > 0 && unknown.MatchString(server[0]) { // it stops there, and validate reports everything
				offline = slices.DeleteFunc(offline, func(problem string) bool { return !unknown.MatchString(problem) })
			}
			// validate leaves out a remark beside other errors, and follows the lines of the file
			server = slices.DeleteFunc(server, func(problem string) bool { return strings.Contains(problem, crd.RulesUnchecked) })
			slices.Sort(server)
			slices.Sort(offline)
			if !slices.Equal(server, offline) {
				t.Errorf("the API server says\n\t%s\nvalidate says\n\t%s", strings.Join(server, "\n\t"), strings.Join(offline, "\n\t"))
			}
		})
	}
	// Syntax errors, and values that are often written wrongly, are reported in different words.
	for name, test := range map[string]struct{ text, words string }{
		"a number for a text":            {strings.Replace(head, "nginx", "7", 1), `spec.image: put it in quotes: "7"`},
		"a name in capitals":             {strings.Replace(head, "name: web", "name: Web", 1), "metadata.name: write it in lower case: name: web"},
		"a quantity that is none":        {head + "  resources: {requests: {cpu: much}}\n", `"much" is no quantity: 100m is a tenth of a CPU, 128Mi is memory`},
		"a field twice":                  {head + "  image: nginx\n", "key \"image\" already set in map"},
		"no YAML":                        {head + "  ports: [\n", "did not find expected node content"},
		"a label that is a number":       {strings.Replace(head, "name: web", "name: web, labels: {a: 7}", 1), `metadata.labels.a: put it in quotes: "7"`},
		"labels that are a list":         {strings.Replace(head, "name: web", "name: web, labels: [a]", 1), "metadata: Invalid value: json: cannot unmarshal array into Go struct field ObjectMeta.labels"},
		"an annotation that is a number": {strings.Replace(head, "name: web", "name: web, annotations: {a: 7}", 1), `metadata.annotations.a: put it in quotes: "7"`},
		"an owner without a name":        {strings.Replace(head, "name: web", "name: web, ownerReferences: [{apiVersion: v1, kind: Secret, uid: a}]", 1), "metadata.ownerReferences[0].name: Required value"},
		"another version":                {strings.Replace(head, "/v1", "/v2", 1), "no matches for kind \"AppService\" in version \"app.example.com/v2\": the served version is app.example.com/v1 AppJob, app.example.com/v1 AppService"},
		"a kind that is none":            {strings.Replace(head, "AppService", "AppServices", 1), "no matches for kind \"AppServices\""},
	} {
		t.Run(name, func(t *testing.T) {
			server, offline := dryRun(t, namespace, test.text), validated(t, namespace, test.text)
			if len(server) == 0 || len(offline) == 0 || !strings.Contains(strings.Join(offline, "\n"), test.words) {
				t.Errorf("the API server says %q\nvalidate says %q, and not %q", server, offline, test.words)
			}
		})
	}
}

// Specs that the API server stores and the operator refuses, validate refuses, too.
func TestValidateSaysWhatTheOperatorRefuses(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	policy := filepath.Join(u.folder, "policy.yaml")
	files.Write(t, policy, "namespaces:\n- names: ["+u.namespace+"]\n  serviceTypes: [ClusterIP]\n")
	cluster.Manager(t, u.namespace, func(options *operator.Options, _ *harness.Requests) { options.Policy = policy })
	for name, test := range map[string]struct{ spec, reason, policy string }{
		"pods below Baseline":          {"  podTemplate: {spec: {hostNetwork: true}}\n", v1.ReasonPodSecurityViolation, policy},
		"too many references":          {"  envFrom:\n" + entries(60, "  - configMapRef: {name: c%d}\n") + "  envs:\n" + entries(60, "  - {name: E%[1]d, valueFrom: {configMapKeyRef: {name: d%[1]d, key: e}}}\n"), v1.ReasonTooLarge, policy},
		"the platform's policy":        {"  ports: [{port: 80}]\n  service: {type: NodePort}\n", v1.ReasonPolicyViolation, policy},
		"what no policy has to forbid": {"  ports: [{port: 80}]\n  ingress: {hosts: [{host: a.example.com}], annotations: {nginx.ingress.kubernetes.io/server-snippet: a}}\n", v1.ReasonPolicyViolation, ""},
	} {
		t.Run(name, func(t *testing.T) {
			app := harness.Seed(u.namespace, strings.ToLower(strings.Map(onlyLetters, name)))
			text := strings.Replace(head, "name: web", "name: "+app.Name, 1) + test.spec
			require.Empty(t, dryRun(t, u.namespace, text), "the API server says")
			offline := validated(t, u.namespace, text, "--policy="+test.policy)
			u.must(t, 0, "kubectl apply -f - <<'END'\n"+text+"END")
			condition := cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, test.reason)
			if len(offline) != 1 || !strings.Contains(offline[0], condition.Message) {
				t.Errorf("the operator says\n\t%s\nvalidate says\n\t%s", condition.Message, strings.Join(offline, "\n\t"))
			}
		})
	}
}

// onlyLetters is the mapping of strings.Map that keeps letters only.
func onlyLetters(r rune) rune {
	if unicode.IsLetter(r) {
		return r
	}
	return -1
}

func entries(count int, format string) string {
	var out strings.Builder
	for i := range count {
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// Mistakes that only a cluster can find are refused there, and validate does not report them. The page of validate lists these cases.
func TestValidateDoesNotKnowWhatOnlyTheClusterKnows(t *testing.T) {
	t.Parallel()
	u := newUser(t, cluster.Namespace(t))
	u.must(t, 0, "kubectl create quota none --hard=count/appservices.app.example.com=1")
	u.must(t, 0, "kubectl apply -k config/admission")
	u.must(t, 0, "kubectl create role apps --verb='*' --resource=appservices.app.example.com && kubectl create rolebinding apps --role=apps --user=tenant-of-"+u.namespace)
	persistent := head + "  persistence: {size: 1Gi, mountPath: /data, perReplica: PER}\n"
	u.must(t, 0, "kubectl apply -f - <<'END'\n"+strings.Replace(persistent, "PER", "true", 1)+"END")
	other := strings.Replace(head, "name: web", "name: other", 1)
	for name, test := range map[string]struct{ text, as, words string }{
		"an admission policy": {other + "  envFrom: [{secretRef: {name: db}}]\n", " --as=tenant-of-" + u.namespace, `refers to Secret "db", which you may not get`},
		"a right":             {other, " --as=nobody", `User "nobody" cannot`},
		"a quota":             {other, "", "exceeded quota"},
		"what cannot be changed of what is there": {strings.Replace(persistent, "PER", "false", 1), "", "spec.persistence.perReplica cannot be changed"},
		"a namespace that is not there":           {strings.Replace(other, "name: other", "name: other, namespace: nowhere", 1), "", `namespaces "nowhere" not found`},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Empty(t, validated(t, u.namespace, test.text), "validate says")
			harness.Eventually(t, "the cluster refuses it", func() error { // policies need a moment
				got := u.run(t, "kubectl apply --server-side --dry-run=server -f -"+test.as+" <<'END'\n"+test.text+"END", nil)
				if got.code == 0 || !strings.Contains(got.stderr, test.words) {
					return fmt.Errorf("it ends with %d: %s", got.code, got.stderr)
				}
				return nil
			})
		})
	}
}

var unknown = regexp.MustCompile(`(unknown field|duplicate field) "[^"]*"`)

// dryRun returns the API server's objections to a text.
func dryRun(t *testing.T, namespace, text string) []string {
	t.Helper()
	c, err := rest.HTTPClientFor(cluster.Config)
	require.NoError(t, err)
	plural := "appservices"
	if strings.Contains(text, "AppJob") {
		plural = "appjobs"
	}
	url := fmt.Sprintf("%s/apis/app.example.com/v1/namespaces/%s/%s?dryRun=All&fieldValidation=Strict", cluster.Config.Host, namespace, plural)
	answer, err := c.Post(url, "application/yaml", strings.NewReader(text))
	require.NoError(t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	if answer.StatusCode == http.StatusCreated {
		return nil
	}
	status := metav1.Status{}
	if err := json.Unmarshal(body, &status); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	var list []string
	if status.Details != nil {
		for _, cause := range status.Details.Causes {
			if strings.HasPrefix(cause.Field, ".spec.") {
				continue // the scale's: it repeats what the schema says
			}
			list = append(list, strings.TrimPrefix(strings.TrimPrefix(cause.Field+": "+cause.Message, "<nil>"), ": "))
		}
	}
	if list == nil {
		list = unknown.FindAllString(status.Message, -1)
	}
	if list == nil {
		list = []string{fmt.Sprintf("%d %s", answer.StatusCode, status.Message)}
	}
	slices.Sort(list)
	return list
}

// validated returns the objections of kubectl appservice validate to a text, without its suggestions, which the API server does not make.
func validated(t *testing.T, namespace, text string, flags ...string) []string {
	t.Helper()
	streams, in, out, stderr := genericiooptions.NewTestIOStreams()
	in.WriteString(text)
	code := plugin.Run(t.Context(), append([]string{"validate", "-f", "-", "-n", namespace, "-o", "json"}, flags...), streams)
	if code > exitFound {
		return []string{strings.TrimPrefix(strings.TrimSpace(stderr.String()), "error: ")}
	}
	var report struct {
		Problems []struct{ Message string } `json:"problems"`
	}
	if err := json.NewDecoder(bytes.NewReader(out.Bytes())).Decode(&report); err != nil {
		t.Fatalf("%s: %v", out, err)
	}
	var list []string
	for _, problem := range report.Problems {
		if found := unknown.FindString(problem.Message); found != "" {
			problem.Message = found
		}
		list = append(list, problem.Message)
	}
	slices.Sort(list)
	return list
}
