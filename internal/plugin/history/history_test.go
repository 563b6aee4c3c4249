package history

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	helmtime "helm.sh/helm/v3/pkg/time"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "github.com/example/appservice-operator/api/v1"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// made is a release in a test.
type made struct {
	revision   int
	status     helmrelease.Status
	chart      string
	generation int64
	by, image  string
}

// app is the AppService of all tests, with an image.
func app(image string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"image": image, "size": int64(2)}}}
	o.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	o.SetNamespace("demo")
	o.SetName("web")
	o.SetUID("uid")
	o.SetGeneration(1)
	return o
}

// secret is the record of a release, as Helm stores it and with what the operator adds.
func secret(t *testing.T, m made) *corev1.Secret {
	t.Helper()
	manifest := fmt.Sprintf("---\n# Source: appservice/templates/deployment.yaml\n"+
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"demo","labels":{"chart":%q}},"spec":{"template":{"spec":{"containers":[{"name":"app","image":%q}]}}}}`+"\n", m.chart, m.image)
	clients := kubernetesfake.NewClientset()
	err := driver.NewSecrets(clients.CoreV1().Secrets("demo")).Create("record", &helmrelease.Release{
		Name: "web", Namespace: "demo", Version: m.revision, Manifest: manifest, Config: map[string]any{"image": m.image},
		Chart: &chart.Chart{Metadata: &chart.Metadata{Name: "appservice", Version: m.chart}},
		Info:  &helmrelease.Info{Status: m.status, LastDeployed: helmtime.Time{Time: noon.Add(time.Duration(m.revision) * time.Hour)}, Description: "Upgrade complete"},
	})
	require.NoError(t, err)
	out, err := clients.CoreV1().Secrets("demo").Get(t.Context(), "record", metav1.GetOptions{})
	require.NoError(t, err)
	out.Name, out.ResourceVersion = fmt.Sprintf("sh.helm.release.v1.web.v%d", m.revision), ""
	out.Labels[v1.LabelManaged] = "true"
	out.OwnerReferences = []metav1.OwnerReference{{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind, Name: "web", UID: "uid", Controller: new(true)}}
	if m.generation > 0 {
		out.Data["resource"], err = json.Marshal(map[string]any{"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind, "generation": m.generation,
			"changedBy": m.by, "changedAt": noon.Format(time.RFC3339), "spec": app(m.image).Object["spec"]})
		require.NoError(t, err)
	}
	return out
}

func listed(t *testing.T, secrets ...*corev1.Secret) []Revision {
	t.Helper()
	objects := []client.Object{}
	for _, secret := range secrets {
		objects = append(objects, secret)
	}
	list, err := List(t.Context(), fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(objects...).Build(), app("x"))
	require.NoError(t, err)
	return list
}

func TestWhatEachReleaseChangedAndWhoAskedForIt(t *testing.T) {
	superseded, deployed := helmrelease.StatusSuperseded, helmrelease.StatusDeployed
	cases := map[string]struct {
		made []made
		want []string
	}{
		"a user, then a user": {
			[]made{{2, deployed, "1.0.0", 2, "kubectl-edit", "b"}, {1, superseded, "1.0.0", 1, "argocd", "a"}},
			[]string{"1 superseded by argocd: ", "2 deployed by kubectl-edit: spec.image a → b, restarts"},
		},
		"then a chart": {
			[]made{{1, superseded, "1.0.0", 1, "argocd", "a"}, {2, deployed, "1.1.0", 1, "argocd", "a"}},
			[]string{"1 superseded by argocd: ", "2 deployed by (another chart): chart appservice-1.0.0 → appservice-1.1.0"},
		},
		"then defaults of the namespace, which the objects show": {
			[]made{{1, superseded, "1.0.0", 1, "argocd", "a"}, {2, deployed, "1.0.0", 1, "argocd", "a"}},
			[]string{"1 superseded by argocd: ", "2 deployed by (operator or defaults): "},
		},
		"ten comes after nine": {
			[]made{{10, deployed, "1.0.0", 2, "argocd", "b"}, {9, superseded, "1.0.0", 1, "argocd", "a"}},
			[]string{"9 superseded by argocd: ", "10 deployed by argocd: spec.image a → b, restarts"},
		},
		"an earlier operator, which kept no spec": {
			[]made{{1, superseded, "1.0.0", 0, "", "a"}, {2, deployed, "1.0.0", 2, "argocd", "b"}},
			[]string{"1 superseded by : ", "2 deployed by argocd: values.image a → b, restarts"},
		},
		"two of them: nobody can say who asked for the second": {
			[]made{{1, superseded, "1.0.0", 0, "", "a"}, {2, deployed, "1.0.0", 0, "", "b"}},
			[]string{"1 superseded by : ", "2 deployed by : values.image a → b, restarts"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var secrets []*corev1.Secret
			for _, m := range test.made {
				secrets = append(secrets, secret(t, m))
			}
			var got []string
			for _, r := range listed(t, secrets...) {
				text := fmt.Sprintf("%d %s by %s: %s", r.Revision, r.Status, r.ChangedBy, strings.Join(r.Changes, "; "))
				if r.Restarts {
					text += ", restarts"
				}
				got = append(got, text)
			}
			if strings.Join(got, "\n") != strings.Join(test.want, "\n") {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// Anyone who may write Secrets can make a record, or damage one.
func TestRecordsThatAreNotTheResourcesOrDamaged(t *testing.T) {
	good := made{3, helmrelease.StatusDeployed, "1.0.0", 3, "argocd", "a"}
	damaged := secret(t, made{2, helmrelease.StatusSuperseded, "1.0.0", 2, "argocd", "a"})
	damaged.Data["release"] = []byte("nonsense")
	foreign := secret(t, made{1, helmrelease.StatusSuperseded, "1.0.0", 1, "argocd", "a"})
	foreign.OwnerReferences = nil
	earlier := secret(t, made{7, helmrelease.StatusDeployed, "1.0.0", 1, "argocd", "a"})
	earlier.OwnerReferences[0].UID = "another"
	noRecord := secret(t, made{4, helmrelease.StatusDeployed, "1.0.0", 1, "argocd", "a"})
	noRecord.Type = corev1.SecretTypeOpaque
	// The controller is no AppService, so neither the garbage collector nor an admission policy minds it.
	otherKind := secret(t, made{99, helmrelease.StatusSuperseded, "1.0.0", 3, "argocd", "evil"})
	otherKind.OwnerReferences[0].APIVersion, otherKind.OwnerReferences[0].Kind = "nobody.example.org/v1", "Nothing"
	list := listed(t, secret(t, good), damaged, foreign, earlier, noRecord, otherKind)
	if len(list) != 2 || list[0].Revision != 2 || list[0].Unreadable == "" || list[1].Revision != 3 || list[1].Unreadable != "" || len(list[1].Changes) > 0 {
		t.Errorf("got %+v", list)
	}
	copied := secret(t, made{5, helmrelease.StatusDeployed, "1.0.0", 1, "argocd", "a"})
	copied.Name, copied.Labels["version"] = "sh.helm.release.v1.web.v6", "6"
	if list := listed(t, copied); len(list) != 1 || list[0].Unreadable != "has the content of sh.helm.release.v1.web.v5" {
		t.Errorf("a record with the content of another one: %+v", list)
	}
	if _, err := PlanUndo(app("b"), list, 2); err == nil || !strings.Contains(err.Error(), "revision 2 cannot be read") {
		t.Errorf("going back to what is damaged: %v", err)
	}
}

// A return to an earlier spec is nobody's change.
func TestAReturnSaysWhatFailed(t *testing.T) {
	superseded, deployed := helmrelease.StatusSuperseded, helmrelease.StatusDeployed
	back := secret(t, made{3, deployed, "1.0.0", 1, "argocd", "a"})
	source := map[string]any{}
	require.NoError(t, json.Unmarshal(back.Data["resource"], &source))
	source["returned"] = map[string]any{"from": 2, "to": 1, "reason": "ImageNotFound", "message": "no b"}
	back.Data["resource"], _ = json.Marshal(source)
	list := listed(t, secret(t, made{1, superseded, "1.0.0", 1, "argocd", "a"}), secret(t, made{2, superseded, "1.0.0", 2, "argocd", "b"}), back)
	last := list[2]
	if last.ChangedBy != "(release 2 failed)" || last.Failed != "ImageNotFound: no b" || !last.ChangedAt.Equal(last.Released) {
		t.Errorf("got %+v", last)
	}
	plan, err := PlanUndo(reporting(app("b"), 3), list, 0)
	require.NoError(t, err)
	if plan.To != 3 {
		t.Errorf("it goes back to %d, not to what runs", plan.To)
	}
}

// A scale leaves no time, so that the managed fields do not say whether it or another change was the last one.
func TestWhoOfTwoMadeAChange(t *testing.T) {
	const both = "argocd; kubectl, through scale"
	cases := map[string]struct {
		by      string
		changes []string
		want    string
	}{
		"only the size":      {both, []string{"spec.size 1 → 3"}, "kubectl, through scale"},
		"not the size":       {both, []string{"spec.image a → b", "spec.sizes a → b"}, "argocd"},
		"the size, too":      {both, []string{"spec.image a → b", "spec.size 1 → 3"}, both},
		"nothing that shows": {both, nil, "argocd"},
		"of another kind":    {both, []string{"spec.replicas 1 → 3"}, "kubectl, through scale"},
		"one writer":         {"kubectl, through scale", []string{"spec.image a → b"}, "kubectl, through scale"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) { require.Equal(t, test.want, oneOf(test.by, test.changes)) })
	}
}
