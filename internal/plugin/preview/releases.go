package preview

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// Releases are the records of deployed releases, by the UID that each names as its controller.
type Releases map[types.UID][]*corev1.Secret

// Of returns the newest release of a resource; nil if there is none.
func (r Releases) Of(resource *unstructured.Unstructured) *Release {
	var newest *Release
	for _, secret := range r[resource.GetUID()] {
		record := livestate.RecordOf(resource, secret)
		if record != nil && (newest == nil || newest.Revision < record.Revision) {
			newest = &Release{Revision: record.Revision, Digest: record.Digest,
				Content: reference.ParseContent(record.References), record: secret}
		}
	}
	return newest
}

// Releases returns the releases of all resources.
func (c *Cluster) Releases(ctx context.Context) (Releases, error) {
	return c.releases(ctx, matching("owner=helm,"+v1.LabelManaged+"=true"))
}

// Release returns the newest release of a resource; nil if there is none, or if it may not be read.
func (c *Cluster) Release(ctx context.Context, resource *unstructured.Unstructured) (*Release, error) {
	all, err := c.releases(ctx, client.InNamespace(resource.GetNamespace()),
		matching("owner=helm,name="+resource.GetName()))
	return all.Of(resource), err
}

// matching selects records by labels, without those of superseded releases.
func matching(selector string) client.ListOption {
	parsed, err := labels.Parse(selector + ",status!=superseded")
	if err != nil { // a name that is not a label, which no record has
		parsed = labels.Nothing()
	}
	return client.MatchingLabelsSelector{Selector: parsed}
}

// page is how many records are read at a time: each may have some hundred KiB.
const page = 250

func (c *Cluster) releases(ctx context.Context, which ...client.ListOption) (Releases, error) {
	found := Releases{}
	list := &corev1.SecretList{}
	for {
		err := c.reader.List(ctx, list, append(which, client.Limit(page), client.Continue(list.Continue))...)
		forbidden, err := c.tolerate(err, "release records may not be read: the current spec is rendered again instead")
		if forbidden || err != nil {
			return found, err
		}
		for i := range list.Items {
			if owner := metav1.GetControllerOfNoCopy(&list.Items[i]); owner != nil {
				found[owner.UID] = append(found[owner.UID], list.Items[i].DeepCopy())
			}
		}
		if list.Continue == "" {
			return found, nil
		}
	}
}
