package translate

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// takeAccount chooses the service account of the workload: that of its name, or of its release.
func (a *Application) takeAccount(list []read.Pair[corev1.ServiceAccount]) {
	for _, p := range list {
		if a.Objects.Taken[p.Object] {
			continue // another AppService makes it
		}
		if p.Read.Name == a.Name || sameRelease(p.Object, a.Object) {
			a.account = &p
			a.take(p.Object)
		}
	}
}

// sameRelease reports whether two objects belong to the same Helm release, by annotations or labels.
func sameRelease(a, b *unstructured.Unstructured) bool {
	const annotation, label = "meta.helm.sh/release-name", "app.kubernetes.io/instance"
	x, y := a.GetAnnotations()[annotation], b.GetAnnotations()[annotation]
	if x != "" || y != "" {
		return x == y
	}
	x, y = a.GetLabels()[label], b.GetLabels()[label]
	return x != "" && x == y
}

// accountPieces returns the pieces for the service account of the pods. A token is mounted if the original requests it,
// or creates an account.
func (a *Application) accountPieces() []piece {
	pod := &a.Template.Spec
	name := cmp.Or(pod.ServiceAccountName, "default")
	token := name != "default"
	if a.account != nil {
		token = ptr.Deref(a.account.Read.AutomountServiceAccountToken, token)
	}
	token = ptr.Deref(pod.AutomountServiceAccountToken, token)
	if name == "default" && !token {
		return nil
	}
	return []piece{{from: a.fromPod("serviceAccountName"), set: func(spec *v1.AppServiceSpec) {
		create := a.account != nil
		spec.ServiceAccount = &v1.ServiceAccount{Create: &create, Name: name, AutomountToken: token}
		if create {
			spec.ServiceAccount.Annotations = asAnnotations(foreignAnnotations(a.account.Read.Annotations))
		}
	}}}
}
