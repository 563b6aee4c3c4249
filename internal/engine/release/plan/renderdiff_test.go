package plan

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/postrender"
)

func TestDifferencesOfTwoRenderings(t *testing.T) {
	const head = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n"
	pod := func(spec string) string { return head + "spec: {template: {spec: " + spec + "}}\n" }
	secret := func(data string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata: {name: web}\nstringData: " + data + "\n"
	}
	cases := map[string]struct {
		old, rendered string
		want          []string
		restarts      bool
	}{
		"none": {old: pod("{nodeName: a}"), rendered: pod("{nodeName: a}")},
		"none in ports without a protocol": {
			old:      "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}, {port: 53, protocol: UDP}]}\n",
			rendered: "apiVersion: v1\nkind: Service\nmetadata: {name: web}\nspec: {ports: [{port: 80}, {port: 53, protocol: UDP}]}\n",
		},
		"a stamp that is another one": {
			old:      head + "spec: {replicas: 1}\n",
			rendered: "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, annotations: {" + postrender.AnnotationStamp + ": b}}\nspec: {replicas: 1}\n",
		},
		"several fields": {
			old: head + "spec: {replicas: 1, paused: true, minReadySeconds: 3}\n", rendered: head + "spec: {replicas: 2, minReadySeconds: 3, revisionHistoryLimit: 4}\n",
			want: []string{"spec.paused true → (none)", "spec.replicas 1 → 2", "spec.revisionHistoryLimit (none) → 4"},
		},
		"a part of the pod template": {
			old: pod("{}"), rendered: pod("{dnsConfig: {searches: [a]}}"),
			want: []string{"spec.template.spec.dnsConfig (none) → (object); restarts pods"}, restarts: true,
		},
		"items that come and go": {
			old: pod("{containers: [{name: a, image: x}, {name: b}]}"), rendered: pod("{containers: [{name: c}, {name: a, image: z}]}"),
			want: []string{
				"spec.template.spec.containers[a].image x → z; restarts pods", "spec.template.spec.containers[b] (object) → (none); restarts pods",
				"spec.template.spec.containers[c] (none) → (object); restarts pods",
			}, restarts: true,
		},
		"items in another order": {
			old: pod("{initContainers: [{name: a}, {name: b}]}"), rendered: pod("{initContainers: [{name: b}, {name: a}]}"),
			want: []string{"spec.template.spec.initContainers (order) a, b → b, a; restarts pods"}, restarts: true,
		},
		"a list that is one value": {
			old: pod("{containers: [{name: a, command: [x, z]}]}"), rendered: pod("{containers: [{name: a, command: [x, w, z]}]}"),
			want: []string{"spec.template.spec.containers[a].command (2 items) → (3 items); restarts pods"}, restarts: true,
		},
		"what is not for print": {
			old: secret("{password: hush}"), rendered: secret("{password: hash}"), want: []string{"stringData.password"},
		},
		"the template of a CronJob": {
			old:      "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\nspec: {jobTemplate: {spec: {template: {spec: {nodeName: a}}}}}\n",
			rendered: "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\nspec: {jobTemplate: {spec: {template: {spec: {nodeName: b}}}}}\n",
			want:     []string{"spec.jobTemplate.spec.template.spec.nodeName a → b"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			old, rendered := object(t, tc.old), object(t, tc.rendered)
			var got []string
			for _, d := range Differences(old, rendered) {
				got = append(got, d.String())
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if got := RestartsPods([]*unstructured.Unstructured{old}, []*unstructured.Unstructured{rendered}); got != tc.restarts {
				t.Errorf("it restarts pods: %t", got)
			}
		})
	}
	gone := []*unstructured.Unstructured{object(t, pod("{}"))}
	if !RestartsPods(gone, nil) || RestartsPods(nil, gone) {
		t.Error("the pods of a workload end when it goes, not when it comes")
	}
}

// Whatever leaf of a rendered object is another one in the next rendering, or is missing there, is listed.
func TestEveryFieldThatDiffersIsListed(t *testing.T) {
	for _, rendered := range renderedOnce(t) {
		for _, path := range leaves(rendered.Object, nil) {
			changed, deleted := rendered.DeepCopy(), rendered.DeepCopy()
			put(t, changed, "another", path...)
			without(t, deleted, path...)
			before, err := yaml.Marshal(withoutStamp(rendered))
			require.NoError(t, err)
			for _, other := range []*unstructured.Unstructured{changed, deleted} {
				after, err := yaml.Marshal(withoutStamp(other))
				require.NoError(t, err)
				there, back := len(Differences(rendered, other)) > 0, len(Differences(other, rendered)) > 0
				if differs := string(before) != string(after); there != differs || back != differs {
					t.Errorf("%s %v: it differs: %t, listed %t and %t the other way", rendered.GetKind(), path, differs, there, back)
				}
			}
		}
	}
}
