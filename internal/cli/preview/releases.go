package preview

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/kube/livestate"
	"github.com/example/appservice-operator/internal/kube/reference"
)

// Release is the newest recorded release of a resource.
type Release struct {
	Revision int
	// Digest identifies what was written.
	Digest string
	// Content is the content that its pods took from referenced objects.
	Content reference.Content

	record *corev1.Secret
}

// Outcome returns what was written.
func (r *Release) Outcome() Outcome {
	recorded, err := release.Decode(r.record)
	if err != nil {
		return Outcome{Err: fmt.Errorf("the release record %s cannot be read: %w", r.record.Name, err)}
	}
	return Outcome{Objects: recorded.Objects}
}

// Releases returns the newest releases of all resources, by the UIDs of the resources.
func (c *Cluster) Releases(ctx context.Context) (map[types.UID]*Release, error) {
	return c.releases(ctx, matching("owner=helm,"+v1.LabelManaged+"=true"))
}

// Release returns the newest release of a resource; nil if there is none, or if it may not be read.
func (c *Cluster) Release(ctx context.Context, resource *unstructured.Unstructured) (*Release, error) {
	all, err := c.releases(ctx, client.InNamespace(resource.GetNamespace()),
		matching("owner=helm,name="+resource.GetName()))
	return all[resource.GetUID()], err
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

// releases returns the newest releases, by the UID of the resource.
func (c *Cluster) releases(ctx context.Context, which ...client.ListOption) (map[types.UID]*Release, error) {
	found := map[types.UID]*Release{}
	list := &corev1.SecretList{}
	for {
		err := c.reader.List(ctx, list, append(which, client.Limit(page), client.Continue(list.Continue))...)
		forbidden, err := c.unless(err, "release records may not be read: what runs is rendered again instead")
		if forbidden || err != nil {
			return found, err
		}
		for i := range list.Items {
			note(found, &list.Items[i])
		}
		if list.Continue == "" {
			return found, nil
		}
	}
}

// note stores a record if it is newer than the known one of its resource.
func note(found map[types.UID]*Release, secret *corev1.Secret) {
	owner := metav1.GetControllerOfNoCopy(secret)
	revision, err := strconv.Atoi(secret.Labels["version"])
	if secret.Type != livestate.RecordType || owner == nil || err != nil {
		return // of another owner
	}
	if known := found[owner.UID]; known == nil || known.Revision < revision {
		found[owner.UID] = &Release{
			Revision: revision, Digest: secret.Labels[v1.LabelDigest],
			Content: reference.ParseContent(secret.Labels[v1.LabelReferences]), record: secret.DeepCopy(),
		}
	}
}
