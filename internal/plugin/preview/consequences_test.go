package preview

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/release"
)

// objects reads documents.
func objects(t *testing.T, text string) []*unstructured.Unstructured {
	t.Helper()
	var list []*unstructured.Unstructured
	for _, document := range strings.Split(text, "---\n") {
		if strings.TrimSpace(document) == "" {
			continue
		}
		data, err := yaml.YAMLToJSONStrict([]byte(document))
		object := &unstructured.Unstructured{}
		if err == nil {
			err = utiljson.Unmarshal(data, &object.Object)
		}
		require.NoError(t, err)
		list = append(list, object)
	}
	return list
}

const (
	aDeployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1, selector: {matchLabels: {app: web}}, template: {spec: {nodeName: a}}}}\n"
	aService    = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{name: http, port: 80}, {name: dns, port: 53, protocol: UDP}]}}\n"
	anIngress   = "{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web}, spec: {rules: [{host: a.example.com}, {host: b.example.com}]}}\n"
	aClaim      = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web-data}, spec: {resources: {requests: {storage: 1Gi}}}}\n"
	aSecret     = "{apiVersion: v1, kind: Secret, metadata: {name: web}}\n"
	aSet        = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 3, persistentVolumeClaimRetentionPolicy: {whenDeleted: Retain, whenScaled: Delete}, volumeClaimTemplates: [{metadata: {name: data}}], template: {}}}\n"
)

func TestConsequences(t *testing.T) {
	t.Parallel()
	change := func(text string, pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	kept := change(aClaim, "{name: web-data}", "{name: web-data, annotations: {app.example.com/retained-for: web}}")
	generated := change(aSecret, "{name: web}", `{name: web, annotations: {app.example.com/generate: "KEY=32"}}`)
	for name, test := range map[string]struct {
		before, after string
		want          []string
	}{
		"nothing":                           {aDeployment, aDeployment, nil},
		"a number of replicas":              {aDeployment, change(aDeployment, "replicas: 1", "replicas: 2"), nil},
		"pods of another kind":              {aDeployment, change(aDeployment, "nodeName: a", "nodeName: b"), []string{"restartsPods: pods of Deployment web WILL restart"}},
		"pods that go before others come":   {aDeployment, change(aDeployment, "nodeName: a", "nodeName: b", "replicas: 1", "strategy: {type: Recreate}"), []string{"restartsPods: pods of Deployment web WILL restart, all at once: nothing serves meanwhile"}},
		"a workload that goes":              {aDeployment, "", []string{"restartsPods: Deployment web is deleted, with its pods"}},
		"a selector":                        {aDeployment, change(aDeployment, "app: web", "app: api"), []string{`refused: refused: spec.selector.matchLabels.app of Deployment "web" cannot change from web to api: set it back, or delete the Deployment so that it is created again`}},
		"a port that goes":                  {aService, change(aService, "port: 80", "port: 8080"), []string{"goesAway: Service web: port 80 is removed"}},
		"a port of another protocol":        {aService, change(aService, "protocol: UDP", "protocol: TCP"), []string{"goesAway: Service web: port 53/UDP is removed"}},
		"a port that is called otherwise":   {aService, change(aService, "name: http", "name: web"), nil},
		"a Service that goes":               {aService, "", []string{"goesAway: Service web: port 80 is removed", "goesAway: Service web: port 53/UDP is removed"}},
		"a host that goes":                  {anIngress, change(anIngress, "a.example.com", "c.example.com"), []string{"goesAway: host a.example.com is removed"}},
		"a host that another object serves": {anIngress + "---\n" + change(anIngress, "name: web", "name: api"), anIngress, nil},
		"a claim that goes":                 {aClaim, "", []string{"losesData: PersistentVolumeClaim web-data is deleted WITH ITS DATA"}},
		"a claim that is kept":              {kept, "", []string{"stays: PersistentVolumeClaim web-data stays with its data, though nothing uses it"}},
		"a Secret that goes":                {aSecret, "", nil},
		"one with generated values":         {generated, "", []string{"losesData: Secret web is deleted WITH THE VALUES that were generated"}},
		"one that keeps them":               {change(generated, "annotations: {", "annotations: {app.example.com/retained-for: web, "), "", []string{"stays: Secret web stays with the values that were generated, though nothing uses it"}},
		"a claim that grows":                {aClaim, change(aClaim, "1Gi", "2Gi"), nil},
		"a Deployment in the place of a StatefulSet": {change(aSet, "metadata: {name: web}", "metadata: {name: web, annotations: {app.example.com/keeps-kind: spec.statefulSet}}"), aDeployment, []string{
			`refused: refused: spec.statefulSet cannot be added or removed: StatefulSet "web" would have to become a Deployment, and its replicas would lose their names and what they stored: set spec.statefulSet back; or follow docs/convert-workload.md, which changes an AppService without a loss of data; or delete the resource and create it again`,
			"restartsPods: StatefulSet web is deleted, with its pods", "stays: the claims of StatefulSet web stay with their data, though nothing uses them"}},
		"a claim more of a StatefulSet":     {aSet, change(aSet, "[{metadata: {name: data}}]", "[{metadata: {name: data}}, {metadata: {name: wal}}]"), []string{`refused: refused: spec.volumeClaimTemplates of StatefulSet "web" cannot get "wal": set the claims with perReplica back (spec.claims, spec.persistence); or delete the StatefulSet with --cascade=orphan and, once it is there again, its pods one after the other, from the first on: they come back with all claims, none of which is deleted (docs/convert-workload.md, for an AppService)`}},
		"a StatefulSet that goes":           {aSet, "", []string{"restartsPods: StatefulSet web is deleted, with its pods", "stays: the claims of StatefulSet web stay with their data, though nothing uses them"}},
		"one that goes with its claims":     {change(aSet, "Retain", "Delete"), "", []string{"losesData: the claims of StatefulSet web are deleted WITH THEIR DATA", "restartsPods: StatefulSet web is deleted, with its pods"}},
		"one that is scaled down":           {aSet, change(aSet, "replicas: 3", "replicas: 1"), []string{"losesData: the claims of 2 pods of StatefulSet web are deleted WITH THEIR DATA"}},
		"one that an autoscaler scales now": {aSet, change(aSet, "replicas: 3, ", ""), nil},
		"the worst first": {
			aService + "---\n" + aDeployment, change(aService, "port: 80", "port: 81") + "---\n" + change(aDeployment, "app: web", "app: api", "nodeName: a", "nodeName: b"),
			[]string{
				`refused: refused: spec.selector.matchLabels.app of Deployment "web" cannot change from web to api: set it back, or delete the Deployment so that it is created again`,
				"restartsPods: pods of Deployment web WILL restart", "goesAway: Service web: port 80 is removed",
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := DiffOf("AppService default/web", Outcome{Objects: objects(t, test.before)}, Outcome{Objects: objects(t, test.after)})
			var got []string
			for _, consequence := range d.Consequences {
				got = append(got, string(consequence.Effect)+": "+consequence.Text)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// A chart deletes no data of a spec that stays.
func TestConsequencesForTheSameSpec(t *testing.T) {
	t.Parallel()
	source := func(image string) *release.Source { return &release.Source{Spec: map[string]any{"image": image}} }
	generated := strings.Replace(aSecret, "{name: web}", `{name: web, annotations: {app.example.com/generate: "KEY=32"}}`, 1)
	before := Outcome{Objects: objects(t, aClaim+"---\n"+generated), Source: source("nginx")}
	for image, want := range map[string][]Effect{"nginx": {Keeps, Keeps}, "nginx:2": {Loses, Loses}} {
		var got []Effect
		for _, consequence := range DiffOf("web", before, Outcome{Source: source(image)}).Consequences {
			got = append(got, consequence.Effect)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", image, got, want)
		}
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	fault := errors.New("no such port")
	for name, test := range map[string]struct {
		before, after Outcome
		want          string
		empty         bool
	}{
		"nothing differs": {Outcome{Objects: objects(t, aService)}, Outcome{Objects: objects(t, aService)}, "web: nothing changes\n", true},
		"objects of all sorts": {
			Outcome{Objects: objects(t, aService+"---\n"+aDeployment)},
			Outcome{Objects: objects(t, strings.Replace(aDeployment, "nodeName: a", "nodeName: b", 1)+"---\n"+anIngress)},
			"web: 3 objects change; pods WILL restart\n" +
				"  ! pods of Deployment web WILL restart\n  ! Service web: port 80 is removed\n  ! Service web: port 53/UDP is removed\n" +
				"  ~ Deployment web\n      spec.template.spec.nodeName a → b; restarts pods\n  + Ingress web\n  - Service web\n", false,
		},
		"what the API server refuses": {
			Outcome{Objects: objects(t, aClaim)}, Outcome{Objects: objects(t, strings.Replace(aClaim, "1Gi", "1Mi", 1))},
			"web: 1 object changes; the upgrade will be REFUSED, and the running release stays as it is\n" +
				`  ! refused: spec.resources.requests.storage of PersistentVolumeClaim "web-data" cannot change from 1Gi to 1Mi: set it back, or delete the PersistentVolumeClaim so that it is created again, without its data` + "\n" +
				"  ~ PersistentVolumeClaim web-data\n      spec.resources.requests.storage 1Gi → 1Mi\n", false,
		},
		"what can no longer be rendered": {Outcome{}, Outcome{Err: fault}, "web: will be refused\n  ! refused: no such port; the running release stays as it is\n", false},
		"what could not be, either":      {Outcome{Err: fault}, Outcome{Err: fault}, "web: cannot be rendered, as before\n    no such port\n", false},
		"what can be rendered again":     {Outcome{Err: fault}, Outcome{}, "web: can be rendered, which it could not before\n    no such port\n", false},
		"a field that does nothing any more": {
			Outcome{}, Outcome{Unknown: []string{"spec.a"}},
			"web: 0 objects change; no pod restarts\n  ! the field spec.a no longer has an effect: the new chart does not declare it\n", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := DiffOf("web", test.before, test.after)
			var got strings.Builder
			for _, line := range d.Lines() {
				got.WriteString(line.Text + "\n")
			}
			if got.String() != test.want {
				t.Errorf("got\n%s\nwant\n%s", got.String(), test.want)
			}
			if d.Empty() != test.empty {
				t.Errorf("got empty %t, want %t", d.Empty(), test.empty)
			}
		})
	}
}

func TestTheFleetSaysTheWorstFirst(t *testing.T) {
	t.Parallel()
	fleet := &Fleet{Kind: "AppService"}
	for _, name := range []string{"one", "two", "three", "four"} {
		resource := &unstructured.Unstructured{Object: map[string]any{}}
		resource.SetName(name)
		before := objects(t, strings.ReplaceAll(aDeployment+"---\n"+aService, "web", name))
		after := objects(t, strings.ReplaceAll(strings.ReplaceAll(aDeployment, "nodeName: a", "nodeName: z")+"---\n"+aService, "web", name))
		if name == "four" {
			after = objects(t, strings.ReplaceAll(strings.ReplaceAll(aDeployment, "{app: web}", "{app: other}"), "web", name))
		}
		fleet.Add(Subject{Name: "shop/" + name, Resource: resource}, Outcome{Objects: before}, Outcome{Objects: after})
	}
	const want = `4 AppServices: 4 change, 3 restart pods, 1 will be refused
    1  refused: spec.selector.matchLabels.app of Deployment "NAME" cannot change from NAME to other: set it back, or delete the Deployment so that it is created again
       shop/four
    1  Service NAME: port 80 is removed
       shop/four
    1  Service NAME: port 53/UDP is removed
       shop/four
    3  Deployment: spec.template.spec.nodeName a → z; restarts pods
       shop/one, shop/two, shop/three
    1  Deployment: spec.selector.matchLabels.app NAME → other
       shop/four
    1  Service goes
       shop/four
`
	if fleet.String() != want {
		t.Errorf("got\n%s\nwant\n%s", fleet.String(), want)
	}
	if fleet.Empty() {
		t.Error("it says that nothing differs")
	}
}
