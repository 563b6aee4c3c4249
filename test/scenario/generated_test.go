//go:build cluster

package scenario

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	appservice "github.com/example/appservice-operator"
	v1 "github.com/example/appservice-operator/api/v1"
)

// chartDir is a folder with the charts of the repository; that of AppServices has besides a Secret of its own with values that the operator makes,
// for those that ask for it by a label.
var chartDir string

const tokenTemplate = `{{- if eq (dig "token" "" (default dict .Values.commonLabels)) "made" }}
apiVersion: v1
kind: Secret
metadata:
  name: {{ include "appservice.name" . }}-token
  annotations: {app.example.com/generate: "token=24"}
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
		{name: "generated-first", deadly: true, steps: []step{{spec: made, expect: expectation{order: []string{"patch secrets/" + ofSpec, "patch deployments/web"}}}}},
		{name: "generated-more", serves: true, given: []step{{spec: made}}, steps: []step{
			{spec: with(made, `{image: "nginx:1.27", config: {generated: {TOKEN: {encoding: base64}}}}`), expect: rolled("2", "1")},
		}},
		{name: "generated-stays", once: true, given: []step{{spec: made}}, steps: []step{
			{spec: with(made, `image: nginx:1.27`), expect: rolled("2", "1")},
			{spec: with(made, `{image: "nginx:1.27", commonLabels: {team: a}}`), expect: rolled("3", "1")},
			{offline: true, expect: expectation{same: true, requests: []string{}}},
			{spec: with(made, `{image: "nginx:1.27", config: null}`), expect: expectation{fields: map[string]string{"Secret " + ofSpec + ".kind": ""}}},
		}},
		{name: "generated-key-deleted", serves: true, given: []step{{spec: made}}, steps: []step{
			loses(ofSpec, "PASSWORD", rolled("2", "1.1")), loses(ofChart, "token", rolled("2", "1.1")), // which no pod takes
		}},
		{name: "generated-key-deleted-again", once: true, given: []step{{spec: made}}, steps: []step{
			loses(ofSpec, "PASSWORD", rolled("2", "1.1")), loses(ofSpec, "PASSWORD", rolled("3", "1.2")),
			{spec: with(made, `config: {generated: {TOKEN: {encoding: base64}}}`), expect: rolled("4", "1.2")},
			{
				edit:   map[string]string{"Secret/" + ofSpec: `{"data":{"PASSWORD":"` + theirs + `"}}`},
				expect: rolled("4", "1.2", "Secret "+ofSpec+".data.PASSWORD", theirs),
			},
		}},
		{name: "generated-key-deleted-while-refused", once: true, given: []step{{spec: made}, {
			spec: lacksSecret, ready: metav1.ConditionFalse, reason: v1.ReasonDependencyMissing,
		}}, steps: []step{
			{
				remove: []string{"Deployment"}, edit: map[string]string{"Secret/" + ofSpec: `{"data":{"KEY":null}}`}, undone: []string{"Secret/" + ofSpec},
				ready: metav1.ConditionFalse, reason: v1.ReasonDependencyMissing, expect: expectation{fields: map[string]string{"Deployment web.kind": "Deployment"}},
			},
			{spec: made, expect: expectation{fields: map[string]string{generatedVersion: ofSpec + "=1.1"}}},
		}},
		{name: "generated-lost-while-refused", once: true, given: []step{{spec: made}, {
			spec: lacksSecret, ready: metav1.ConditionFalse, reason: v1.ReasonDependencyMissing,
		}}, steps: []step{{
			remove: []string{"Secret/" + ofSpec}, ready: metav1.ConditionFalse, reason: v1.ReasonDependencyMissing, expect: expectation{
				problems: []string{"the running release is not kept as it is: Secret " + ofSpec + " is gone", v1.AnnotationGenerateAgain},
				fields:   map[string]string{"Secret " + ofSpec + ".kind": ""},
			},
		}}},
		{name: "generated-lost", serves: true, given: []step{{spec: made}}, steps: []step{
			whileGone(step{remove: []string{"Secret/" + ofSpec, "Secret/" + ofChart}}, bothLost),
			whileGone(step{spec: with(made, `image: nginx:1.27`)}, bothLost),
			{edit: map[string]string{v1.Kind: again}},
		}},
		{name: "generated-lost-for-long", once: true, given: []step{{spec: made}}, steps: []step{
			whileGone(step{remove: []string{"Secret/" + ofSpec}}, "Secret "+ofSpec+" is gone"),
			whileGone(step{remove: []string{"Service"}, expect: expectation{same: true}}, "Secret "+ofSpec+" is gone"),
			whileGone(step{offline: true, spec: with(made, `image: nginx:1.27`)}, "Secret "+ofSpec+" is gone"),
			{restore: []string{"Secret/" + ofSpec}, expect: expectation{fields: map[string]string{runningImage: newImage}}},
		}},
		{name: "generated-lost-and-made-again", once: true, given: []step{{spec: made}}, steps: []step{
			whileGone(step{remove: []string{"Secret/" + ofSpec}}, "Secret "+ofSpec+" is gone"),
			{edit: map[string]string{v1.Kind: strings.ReplaceAll(again, ofChart, "other")}, expect: expectation{fields: map[string]string{podRevision: "2"}}},
		}},
		{name: "generated-lost-of-no-pod", once: true, given: []step{{spec: with(small, `commonLabels: {token: made}`)}}, steps: []step{
			whileGone(step{remove: []string{"Secret/" + ofChart}}, "Secret "+ofChart+" is gone"),
			whileGone(step{remove: []string{"Service"}, expect: expectation{same: true, events: []string{"create Service web"}}}, "Secret "+ofChart+" is gone"),
			{edit: map[string]string{v1.Kind: again}, expect: expectation{fields: map[string]string{podRevision: "1"}}},
		}},
	}
)

const (
	podRevision      = "Deployment web.metadata.annotations.deployment.kubernetes.io/revision"
	generatedVersion = "Deployment web.spec.template.metadata.annotations." + v1.AnnotationGeneratedVersion
	// theirs is a value of the length of those that the operator makes.
	theirs = "dGhlaXItb3duLXZhbHVlLW9mLTMyLWNoYXJhY3RlcnM="
)

// lacksSecret is refused: a Secret that it refers to does not exist.
var lacksSecret = with(made, `config: {databaseUrlFrom: {secretKeyRef: {name: missing, key: url}}}`)

// rolled expects that pods were rolled out so often, the last time with this version of the values.
func rolled(revision, version string, more ...string) expectation {
	return expectation{fields: fieldsOf(append(more, podRevision, revision, generatedVersion, ofSpec+"="+version)...)}
}

// loses is the deletion of a key, whose value is made again.
func loses(secret, key string, expect expectation) step {
	what := "Secret/" + secret
	expect.events = []string{"Secret " + secret + ": data." + key}
	return step{edit: map[string]string{what: `{"data":{"` + key + `":null}}`}, undone: []string{what}, expect: expect}
}

// whileGone is a step at whose end a Secret is gone, and pods are not restarted, which could not start.
func whileGone(step step, says string) step {
	step.ready, step.reason, step.says = metav1.ConditionFalse, v1.ReasonGeneratedSecretLost, says
	step.expect.fields = fieldsOf(podRevision, "1", "AppService web.status.conditions[Stalled].reason", v1.ReasonGeneratedSecretLost)
	return step
}

// vault is the values of the Secrets of a namespace that the operator fills, over time: each is made once, and is another one only if the test
// asked for that.
type vault struct {
	values map[string]map[string]string // by Secret and key
	made   map[string]string            // by value, the Secret and key that ever had it
	known  map[string]types.UID         // the Secrets themselves
	may    map[string]bool              // what may be made again: a Secret, or SECRET/KEY
	wrong  []string
}

// vaultOf returns the vault of a namespace. The world is locked.
func (w *world) vaultOf(namespace string) *vault {
	if w.vaults[namespace] == nil {
		w.vaults[namespace] = &vault{values: map[string]map[string]string{}, made: map[string]string{}, known: map[string]types.UID{}, may: map[string]bool{}}
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
		Data     map[string]any
	}
	_ = json.Unmarshal([]byte(patch), &change) // an edit of other fields asks for nothing
	for key := range change.Data {
		if object.GetKind() == "Secret" {
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
	v := w.vaultOf(namespace)
	wrong := slices.Clone(v.wrong)
	for what := range v.may {
		if name, _, _ := strings.Cut(what, "/"); v.values[name] != nil {
			wrong = append(wrong, what+" has no other value, though the test asked for one")
		}
	}
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
		v.values[name][key], v.made[value] = value, name+"/"+key
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

// keysOf returns the keys that a Secret must be filled with, and the lengths of their values, 0 for any: none if it is not one that the operator
// fills.
func keysOf(secret *unstructured.Unstructured) map[string]int {
	annotation := secret.GetAnnotations()[v1.AnnotationGenerate]
	if annotation == "" || secret.GetKind() != "Secret" {
		return nil
	}
	keys := map[string]int{}
	for entry := range strings.SplitSeq(annotation, ",") {
		key, form, isValue := strings.Cut(entry, "=")
		kind, _, _ := strings.Cut(entry, ":")
		if !isValue {
			keys[kind+".crt"], keys[kind+".key"] = 0, 0
			continue
		}
		length, _ := strconv.Atoi(form[strings.Index(form, ":")+1:])
		switch {
		case strings.HasPrefix(form, "hex:"):
			length *= 2
		case strings.HasPrefix(form, "base64:"):
			length = base64.StdEncoding.EncodedLen(length)
		}
		keys[key] = length
	}
	return keys
}

// lacking returns the keys that a Secret must be filled with and has not.
func lacking(secret *unstructured.Unstructured) (lacks []string) {
	data, _, _ := unstructured.NestedStringMap(secret.Object, "data")
	for key, length := range keysOf(secret) {
		value, _ := base64.StdEncoding.DecodeString(data[key])
		if len(value) == 0 || length > 0 && len(value) != length {
			lacks = append(lacks, key)
		}
	}
	return lacks
}

// told lists the values that are, or were, in Secrets and are in anything else: objects, release records, events.
func (s *stage) told(t *testing.T, objects map[string]*unstructured.Unstructured) (list []string) {
	t.Helper()
	seen.mu.Lock()
	values := maps.Clone(seen.vaultOf(s.namespace).made)
	seen.mu.Unlock()
	if len(values) == 0 {
		return nil
	}
	events := &eventsv1.EventList{}
	require.NoError(t, cluster.Client.List(t.Context(), events, client.InNamespace(s.namespace)))
	texts := map[string]any{"an event": events}
	for key, object := range objects {
		texts[key] = object
		if packed, found, _ := unstructured.NestedString(object.Object, "data", "release"); found {
			texts[key], _ = decode(packed)
		}
		if len(keysOf(object)) > 0 {
			delete(texts, key)
		}
	}
	for key, content := range texts {
		text, err := json.Marshal(content)
		require.NoError(t, err)
		for value, of := range values {
			plain, _ := base64.StdEncoding.DecodeString(value)
			if strings.Contains(string(text), value) || strings.Contains(string(text), string(plain)) {
				list = append(list, of+" is in "+key)
			}
		}
	}
	return list
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
