//go:build cluster

package scenario

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
)

// chartDir is a folder with the charts of the repository; that of AppServices has besides a Secret of its own with values that the operator makes,
// and certificates, for those that ask for it by a label.
var chartDir string

const tokenTemplate = `{{- if eq (dig "token" "" (default dict .Values.commonLabels)) "made" }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ include "appservice.name" . }}-token
  annotations: {app.example.com/generate: "token=24,ca:300d,tls:30d"}
{{- end }}
`

// writeCharts fills chartDir.
func writeCharts() (err error) {
	if chartDir, err = os.MkdirTemp("", "charts-"); err != nil {
		return err
	}
	if err := os.CopyFS(chartDir, appservice.Files); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(chartDir, "helm-charts/appservice/templates/token.yaml"), []byte(tokenTemplate), 0o600)
}

const (
	ofSpec  = "web-generated"
	ofChart = "web-token"
	// bothLost is what Ready says of both. While it names one of them, the other was not noticed yet.
	bothLost = "Secrets " + ofSpec + ", " + ofChart + " are gone"
)

var (
	// made is an AppService with a Secret of the spec and one of the chart.
	made = with(small, `{config: {generated: {PASSWORD: {}, KEY: {bytes: 64, encoding: hex}}}, commonLabels: {token: made}}`)
	// again asks for other values of both Secrets.
	again = fmt.Sprintf(`{"metadata":{"annotations":{%q:"%s, %s"}}}`, v1.AnnotationGenerateAgain, ofSpec, ofChart)

	generatedScenarios = []scenario{
		{name: "generated-first", steps: []step{{spec: made}}},
		{name: "generated-more", serves: true, given: []step{{spec: made}}, steps: []step{
			{spec: with(made, `{image: "nginx:1.27", config: {generated: {TOKEN: {encoding: base64}}}}`)},
		}},
		{name: "generated-key-deleted", serves: true, given: []step{{spec: made}}, steps: []step{
			{edit: map[string]string{"Secret/" + ofSpec: `{"data":{"PASSWORD":null}}`}, undone: []string{"Secret/" + ofSpec}},
			{edit: map[string]string{"Secret/" + ofChart: `{"data":{"token":null}}`}, undone: []string{"Secret/" + ofChart}},
		}},
		{name: "generated-lost", serves: true, given: []step{{spec: made}}, steps: []step{
			{remove: []string{"Secret/" + ofSpec, "Secret/" + ofChart}, ready: metav1.ConditionFalse, reason: v1.ReasonGeneratedSecretLost, says: bothLost},
			{spec: with(made, `image: nginx:1.27`), ready: metav1.ConditionFalse, reason: v1.ReasonGeneratedSecretLost, says: bothLost},
			{edit: map[string]string{v1.Kind: again}},
		}},
	}
)

// vault is the values of the Secrets of a namespace that the operator fills, over time: each is made once, and is another one only if the test
// asked for that.
type vault struct {
	values map[string]map[string]string // by Secret and key
	known  map[string]types.UID         // the Secrets themselves
	may    map[string]bool              // what may be made again: a Secret, or SECRET/KEY
	wrong  []string
}

// vaultOf returns the vault of a namespace. The world is locked.
func (w *world) vaultOf(namespace string) *vault {
	if w.vaults[namespace] == nil {
		w.vaults[namespace] = &vault{values: map[string]map[string]string{}, known: map[string]types.UID{}, may: map[string]bool{}}
	}
	return w.vaults[namespace]
}

// permits records that the test asks for other values: of a Secret, of SECRET/KEY, or of all if nothing is named.
func (w *world) permits(namespace string, names ...string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(names) == 0 {
		delete(w.vaults, namespace)
		return
	}
	for _, name := range names {
		w.vaultOf(namespace).may[name] = true
	}
}

// permitsBy does so for an edit of an object.
func (w *world) permitsBy(object *unstructured.Unstructured, patch string) {
	var change struct {
		Metadata metav1.ObjectMeta
		Data     map[string]*string
	}
	_ = json.Unmarshal([]byte(patch), &change) // an edit of other fields asks for nothing
	for key, value := range change.Data {
		if object.GetKind() == "Secret" && value == nil {
			w.permits(object.GetNamespace(), object.GetName()+"/"+key)
		}
	}
	for name := range strings.SplitSeq(change.Metadata.Annotations[v1.AnnotationGenerateAgain], ",") {
		if name != "" {
			w.permits(object.GetNamespace(), strings.TrimSpace(name))
		}
	}
}

// wronglyMade lists what was made that nobody asked for, and what is missing in the present objects.
func (w *world) wronglyMade(namespace string, objects map[string]*unstructured.Unstructured) []string {
	w.mu.Lock()
	wrong := slices.Clone(w.vaultOf(namespace).wrong)
	w.mu.Unlock()
	for _, object := range objects {
		if lacks := lacking(object); len(lacks) > 0 {
			wrong = append(wrong, fmt.Sprintf("%s lacks %v", object.GetName(), lacks))
		}
	}
	return wrong
}

// note processes an event of a Secret.
func (v *vault) note(secret *unstructured.Unstructured, gone bool) {
	name := secret.GetName()
	if len(keysOf(secret)) == 0 || gone {
		return
	}
	if v.known[name] != secret.GetUID() {
		v.begin(secret)
	}
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	for key, value := range data {
		if last := v.values[name][key]; last != "" && last != value {
			v.change(name, key)
		}
		v.values[name][key] = value
	}
}

// begin processes the first event of a Secret: it is created with its values, and it does not take the place of one that was lost.
func (v *vault) begin(secret *unstructured.Unstructured) {
	name := secret.GetName()
	if lacks := lacking(secret); len(lacks) > 0 {
		v.wrong = append(v.wrong, fmt.Sprintf("%s is created without %v", name, lacks))
	}
	if v.known[name] != "" && !v.may[name] {
		v.wrong = append(v.wrong, name+" is made again in silence")
	}
	delete(v.may, name)
	v.known[name], v.values[name] = secret.GetUID(), map[string]string{}
}

// change processes that a key has another value than before.
func (v *vault) change(name, key string) {
	if !v.may[name+"/"+key] {
		v.wrong = append(v.wrong, fmt.Sprintf("%s has another value of %s", name, key))
	}
	delete(v.may, name+"/"+key)
}

// keysOf returns the keys that a Secret must be filled with: none if it is not one that the operator fills.
func keysOf(secret *unstructured.Unstructured) (keys []string) {
	annotation := secret.GetAnnotations()[v1.AnnotationGenerate]
	if annotation == "" || secret.GetKind() != "Secret" {
		return nil
	}
	for entry := range strings.SplitSeq(annotation, ",") {
		key, _, isValue := strings.Cut(entry, "=")
		kind, _, _ := strings.Cut(entry, ":")
		if isValue {
			keys = append(keys, key)
		} else {
			keys = append(keys, kind+".crt", kind+".key")
		}
	}
	return keys
}

// lacking returns the keys that a Secret must be filled with and has not.
func lacking(secret *unstructured.Unstructured) []string {
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	return slices.DeleteFunc(keysOf(secret), func(key string) bool { return data[key] != "" })
}

// generatedIncidents are those in which the Secrets are lost while the operator is down, or does not see it.
func generatedIncidents() []incident {
	return []incident{
		{"generated/lost-while-down", func(s *scene) { s.losesSecrets(false) }},
		{"generated/lost-unseen", func(s *scene) { s.losesSecrets(true) }},
	}
}

// losesSecrets deletes the Secrets and changes the image, and brings the Secrets back once the AppService says that they are gone.
func (s *scene) losesSecrets(unseen bool) {
	s.with(made)
	s.serves()
	changed := with(made, `image: nginx:1.28`)
	if unseen {
		s.view.StartAt(s.version(), "secrets")
	} else {
		s.stop()
	}
	kept := []*unstructured.Unstructured{s.taken(ofSpec), s.taken(ofChart)}
	s.want(changed)
	if unseen {
		s.still()
		s.view.Thaw()
	} else {
		s.start()
	}
	s.says(v1.ReasonGeneratedSecretLost)
	s.still()
	s.fault()
	for _, secret := range kept {
		seen.permits(s.namespace, secret.GetName())
		if err := cluster.Client.Create(s.Context(), secret); err != nil {
			s.Fatal(err)
		}
	}
	s.endsAs(changed)
}

// taken deletes a Secret, and returns it as it was.
func (s *scene) taken(name string) *unstructured.Unstructured {
	s.Helper()
	secret := s.object("Secret/" + name)
	if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(secret), secret); err != nil {
		s.Fatal(err)
	}
	s.drop("Secret/" + name)
	secret.SetUID("")
	secret.SetResourceVersion("")
	return secret
}
