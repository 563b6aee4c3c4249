package readywhen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// database is an object of a kind that nobody knows, as a controller shows it.
func database(t testing.TB, status string, annotations ...string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	text := "apiVersion: example.com/v1\nkind: Database\nmetadata: {name: db, namespace: demo, generation: 2, labels: {app.kubernetes.io/name: web}}\nspec: {replicas: 3}\n"
	if status != "" {
		text += "status: " + status + "\n"
	}
	data, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	require.NoError(t, object.UnmarshalJSON(data))
	names := []string{v1.AnnotationReadyWhen, v1.AnnotationReadyMessage}
	for i, value := range annotations {
		require.NoError(t, unstructured.SetNestedField(object.Object, value, "metadata", "annotations", names[i]))
	}
	return object
}

func TestAnObjectSaysWhenItIsReady(t *testing.T) {
	const (
		bound      = `self.status.phase == "Bound"`
		conditions = `self.status.conditions.exists(c, c.type == "Ready" && c.status == "True")`
		one        = `{conditions: [{type: Ready, status: "False", message: no quorum}]}`
	)
	cases := map[string]struct {
		status, when, say string
		want              State
	}{
		"true, whatever there is":               {"", `true`, "", State{Ready: true}},
		"false, whatever there is":              {"", `false`, "", State{Message: "false is not true yet"}},
		"a phase that is reached":               {"{phase: Bound}", bound, "", State{Ready: true}},
		"a phase that is not reached":           {"{phase: Pending}", bound, "", State{Message: bound + " is not true yet"}},
		"a status that is not there":            {"", bound, "", State{Message: "status is not set yet, and " + bound + " reads it"}},
		"a phase that is not there":             {"{x: 1}", bound, "", State{Message: "status.phase is not set yet, and " + bound + " reads it"}},
		"a condition that is true":              {`{conditions: [{type: Ready, status: "True"}]}`, conditions, "", State{Ready: true}},
		"a condition that is false":             {one, conditions, "", State{Message: conditions + " is not true yet"}},
		"a field that conditions do not have":   {one, `self.status.conditions.all(c, c.since == 1)`, "", State{Message: "c.since is not set yet, and self.status.conditions.all(c, c.since == 1) reads it"}},
		"an item that is not there":             {"{hosts: []}", `self.status.hosts[0].up`, "", State{Message: "status.hosts[0] is not set yet, and self.status.hosts[0].up reads it"}},
		"an item of a selection":                {one, `self.status.conditions.filter(c, c.type == "X")[0].status == "True"`, "", State{Message: `a selection of status.conditions[0] is not set yet, and self.status.conditions.filter(c, c.type == "X")[0].status == "True" reads it`}},
		"a label that is not there":             {"", `self.metadata.labels["example.com/x"] == "y"`, "", State{Message: `metadata.labels['example.com/x'] is not set yet, and self.metadata.labels["example.com/x"] == "y" reads it`}},
		"a field whose name is computed":        {"{phase: A}", `self.status[self.kind].up`, "", State{Message: "status.Database is not set yet, and self.status[self.kind].up reads it"}},
		"an optional value without another":     {"", `self.?status.phase.value() == "A"`, "", State{Message: `an optional value is not set yet, and self.?status.phase.value() == "A" reads it`}},
		"an optional value that is left out":    {"", `self.?status.waiting.orValue(0) == 0`, "", State{Ready: true}},
		"an optional value that is there":       {"{waiting: 2}", `self.?status.waiting.orValue(0) == 0`, "", State{Message: "self.?status.waiting.orValue(0) == 0 is not true yet"}},
		"a field that is asked for with has":    {"{}", `has(self.status.phase)`, "", State{Message: "has(self.status.phase) is not true yet"}},
		"a generation that was seen":            {"{observedGeneration: 2}", `self.status.observedGeneration == self.metadata.generation`, "", State{Ready: true}},
		"numbers of two types":                  {"{replicas: 3.0}", `self.status.replicas >= self.spec.replicas`, "", State{Ready: true}},
		"a label":                               {"", `self.metadata.labels["app.kubernetes.io/name"] == "web" && self.metadata.namespace == "demo"`, "", State{Ready: true}},
		"either of two, one is not there":       {"{up: true}", `self.status.down || self.status.up`, "", State{Ready: true}},
		"a name that matches":                   {"", `self.metadata.name.matches("^[a-z]{1,63}$")`, "", State{Ready: true}},
		"a time":                                {`{at: "2026-01-02T03:04:05Z"}`, `timestamp(self.status.at) > timestamp("2026-01-01T00:00:00Z")`, "", State{Ready: true}},
		"words":                                 {"{phase: Pending}", bound, `"it is " + self.status.phase`, State{Message: "it is Pending"}},
		"words of a condition":                  {one, conditions, `self.status.conditions.filter(c, c.type == "Ready")[0].message`, State{Message: "no quorum"}},
		"words before there is a status":        {"", bound, `"waiting for a volume"`, State{Message: "waiting for a volume"}},
		"words that ask for what is not there":  {"", bound, `self.status.message`, State{Message: "status is not set yet, and " + bound + " reads it"}},
		"words that are a number":               {"{phase: P, n: 1}", bound, `self.status.n`, State{Message: bound + " is not true yet"}},
		"words that do not compile":             {"{phase: P}", bound, `1 +`, State{Message: bound + " is not true yet"}},
		"words that are blank":                  {"{phase: P}", bound, `" \n "`, State{Message: bound + " is not true yet"}},
		"words of several lines":                {"{phase: P}", bound, `"one\ntwo\u0007 three"`, State{Message: `one two\u0007 three`}},
		"words for an object that is ready":     {"{phase: Bound}", bound, `"never read"`, State{Ready: true}},
		"a text where a bool is wanted":         {"{phase: Bound}", `self.status.phase`, `"never read"`, State{Fault: true, Message: "annotation app.example.com/ready-when, self.status.phase: returns a string, but must return a bool"}},
		"a null where a bool is wanted":         {"{phase: null}", `self.status.phase`, "", State{Fault: true, Message: "annotation app.example.com/ready-when, self.status.phase: returns a null_type, but must return a bool"}},
		"a number that is compared with a text": {"{phase: 1}", `self.status.phase > "a"`, "", State{Fault: true, Message: `annotation app.example.com/ready-when, self.status.phase > "a": cannot be evaluated: no such overload`}},
		"what does not parse":                   {"", `self.`, "", State{Fault: true, Message: `annotation app.example.com/ready-when, self.: column 6: Syntax error: no viable alternative at input '.'`}},
		"nothing":                               {"", ``, "", State{Fault: true, Message: `annotation app.example.com/ready-when, "": empty: leave the annotation out`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			annotations := []string{tc.when}
			if tc.say != "" {
				annotations = append(annotations, tc.say)
			}
			got, applies := Of(database(t, tc.status, annotations...))
			if !applies || got != tc.want {
				t.Errorf("got %+v, %t\nwant %+v", got, applies, tc.want)
			}
		})
	}
}

func TestAnObjectWithoutTheAnnotationSaysNothing(t *testing.T) {
	object := database(t, "{phase: Bound}")
	object.SetAnnotations(map[string]string{v1.AnnotationReadyMessage: `"x"`})
	for _, object := range []client.Object{database(t, ""), object, &corev1.ConfigMap{}} {
		if got, applies := Of(object); applies || got != (State{}) {
			t.Errorf("got %+v, %t", got, applies)
		}
	}
}

func TestAnObjectOfABuiltInKindIsSeenAsJSON(t *testing.T) {
	object := &corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
	object.Annotations = map[string]string{v1.AnnotationReadyWhen: `self.spec.ports[0].port == 80 && !has(self.spec.clusterIP)`}
	if got, applies := Of(object); !applies || !got.Ready {
		t.Errorf("got %+v, %t", got, applies)
	}
}

// The caches keep metadata of Secrets and large objects: enough for "true", and for the longest expression to be kept.
func TestAnOutlineIsSeenAsMetadata(t *testing.T) {
	owner := schema.GroupVersionKind{Group: "app.example.com", Version: "v1", Kind: "AppService"}
	keep := func(t *testing.T, object client.Object) client.Object {
		object.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: "u", Controller: new(true)}})
		out, err := kube.Transform(map[schema.GroupVersionKind]limits.Bound{owner: 0})(object)
		require.NoError(t, err)
		return out.(client.Object)
	}
	large := strings.Repeat("x", 64<<10)
	kinds := map[string]func() client.Object{
		"a Secret":              func() client.Object { return kube.Metadata(kube.SecretKind) },
		"a large ConfigMap":     func() client.Object { return &corev1.ConfigMap{Data: map[string]string{"a": large}} },
		"a large custom object": func() client.Object { return database(t, "{phase: "+large+"}") },
	}
	longest := `self.metadata.name == "db"` + strings.Repeat(" ", MaxExpression-26)
	cases := map[string]struct {
		when string
		want State
	}{
		"true":                   {"true", State{Ready: true}},
		"metadata":               {`self.metadata.name == "db" && self.kind != ""`, State{Ready: true}},
		"the longest expression": {longest, State{Ready: true}},
		"content": {`self.data.a == "x"`, State{Fault: true, Message: `self.data.a == "x" reads data, but of Secrets and of large objects ` +
			`the operator knows only metadata: change annotation app.example.com/ready-when`}},
	}
	for kind, make := range kinds {
		for name, tc := range cases {
			t.Run(kind+", "+name, func(t *testing.T) {
				object := make()
				object.SetName("db")
				object.SetAnnotations(map[string]string{v1.AnnotationReadyWhen: tc.when, v1.AnnotationReadyMessage: `"never read"`})
				if got, applies := Of(keep(t, object)); !applies || got != tc.want {
					t.Errorf("got %+v, %t\nwant %+v", got, applies, tc.want)
				}
			})
		}
	}
}

func TestAMessageHasABound(t *testing.T) {
	long := strings.Repeat("ü", 2000)
	for name, object := range map[string]client.Object{
		"what the object says": database(t, "{phase: "+long+"}", `false`, `self.status.phase`),
		"the expression":       database(t, "", `false || "`+strings.Repeat("ü", 400)+`" == ""`),
	} {
		got, _ := Of(object)
		if length := len([]rune(got.Message)); length == 0 || length > maxMessage {
			t.Errorf("%s: the message has %d characters", name, length)
		}
	}
}

// FuzzOf: no expression and no object makes it panic, and each state has its words, in one line.
func FuzzOf(f *testing.F) {
	for _, expression := range []string{
		`self.status.phase == "Bound"`, `self.?status.phase.orValue("") in ["a", "b"]`, `self.status.conditions.exists(c, c.type == "Ready")`,
		`self[0][1].x[self.y]`, `"a" + string(1)`, `has(self.a.b) ? self.a : dyn(1)`, `timestamp(self.a) > timestamp("2026-01-01T00:00:00Z")`,
		`self.metadata.name.matches("^[a-z]{1,63}$")`, `self.items.filter(i, i > 1).size() == 1`, `-self.a % 0 == 1 / 0`, `{"a": 1}[self.kind]`,
	} {
		f.Add(expression, expression, []byte(`{"status": {"phase": "Bound", "conditions": [{"type": "Ready"}]}, "items": [1, 2.5, null, true]}`))
	}
	f.Fuzz(func(t *testing.T, when, say string, data []byte) {
		object := &unstructured.Unstructured{}
		if yaml.Unmarshal(data, &object.Object) != nil || object.Object == nil {
			return
		}
		delete(object.Object, "metadata")
		object.SetAnnotations(map[string]string{v1.AnnotationReadyWhen: when, v1.AnnotationReadyMessage: say})
		refused := Check(object)
		got, applies := Of(object)
		if !applies || got.Ready != (got.Message == "") || strings.Contains(got.Message, "\n") || got.Ready && got.Fault {
			t.Errorf("got %+v, %t", got, applies)
		}
		if again, _ := Of(object); again != got {
			t.Errorf("got %+v, then %+v", got, again)
		}
		if Expression(v1.AnnotationReadyWhen, when) != nil && got.Ready {
			t.Errorf("%q was refused, yet it is ready: %v", when, refused)
		}
	})
}

func BenchmarkOf(b *testing.B) {
	status := "{phase: Bound, conditions: ["
	for i := range 10 {
		status += fmt.Sprintf(`{type: C%d, status: "True"}, `, i)
	}
	status += `{type: Ready, status: "True"}]}`
	for name, expression := range map[string]string{
		"true":       `true`,
		"phase":      `self.status.phase == "Bound"`,
		"conditions": `self.status.conditions.exists(c, c.type == "Ready" && c.status == "True")`,
		"absent":     `self.status.absent == "Bound"`,
	} {
		object := database(b, status, expression)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Of(object)
			}
		})
	}
}

func BenchmarkCompile(b *testing.B) {
	expression := `self.status.conditions.exists(c, c.type == "Ready" && c.status == "True")`
	longest := expression + strings.Repeat(" || "+expression, (MaxExpression-len(expression))/(len(expression)+4))
	for name, text := range map[string]string{"usual": expression, "longest": longest} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := compile(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
