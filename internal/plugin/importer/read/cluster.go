package read

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release"
)

// kinds are the kinds that Objects reads, with the versions in which it reads them.
var kinds = []schema.GroupVersionKind{
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "PersistentVolumeClaim"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: KindGRPCRoute},
	{Group: "keda.sh", Version: "v1alpha1", Kind: "ScaledObject"},
}

// FromCluster reads a workload of a kind, and the objects of its namespace that may belong to it. Kinds that the
// cluster does not serve are skipped; kinds that the user may not list are named in notes.
func FromCluster(ctx context.Context, c client.Reader, of schema.GroupVersionKind,
	key client.ObjectKey) (objects []*unstructured.Unstructured, unseen []Note, err error) {
	workload := kube.Object(of)
	if err := c.Get(ctx, key, workload); err != nil {
		return nil, nil, err
	}
	objects = append(objects, workload)
	for _, kind := range kinds {
		list := kube.List(kind)
		err := c.List(ctx, list, client.InNamespace(key.Namespace))
		switch {
		case err == nil:
		case meta.IsNoMatchError(err) || apierrors.IsNotFound(err):
			continue
		case apierrors.IsForbidden(err):
			unseen = append(unseen, Note{Object: kind.Kind,
				Reason: "you may not list them: whether one belongs to the workload is not known",
				Remedy: "ask for the right, or check by hand"})
			continue
		default:
			return nil, nil, err
		}
		for n := range list.Items {
			objects = append(objects, &list.Items[n])
		}
	}
	return objects, unseen, nil
}

// releaseKind is the type of the Secrets in which Helm keeps its records.
const releaseKind = "helm.sh/release.v1"

// FromRelease reads the objects of the newest record of a Helm release, as they were rendered, and its hooks.
func FromRelease(ctx context.Context, c client.Reader, key client.ObjectKey) ([]*unstructured.Unstructured, error) {
	secrets := &corev1.SecretList{}
	if err := c.List(ctx, secrets, client.InNamespace(key.Namespace),
		client.MatchingLabels{"owner": "helm", "name": key.Name}); err != nil {
		return nil, err
	}
	var newest *corev1.Secret
	for n := range secrets.Items {
		secret := &secrets.Items[n]
		if secret.Type == releaseKind && (newest == nil || revision(secret) > revision(newest)) {
			newest = secret
		}
	}
	if newest == nil {
		return nil, fmt.Errorf("there is no record of a Helm release %q in namespace %s: helm list shows the existing ones", key.Name, key.Namespace)
	}
	manifest, err := release.ManifestWithHooks(newest.Data["release"])
	if err != nil {
		return nil, fmt.Errorf("cannot read the release record %s: %w", newest.Name, err)
	}
	return FromManifest([]byte(manifest), key.Namespace)
}

func revision(secret *corev1.Secret) int {
	number := 0
	_, _ = fmt.Sscan(secret.Labels["version"], &number) // 0 without a version
	return number
}
