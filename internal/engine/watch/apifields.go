package watch

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/openapi"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/internal/engine/kube/apifields"
)

// described are the kinds of a group and version, as the API server described them at an address and a time. The
// address contains a digest of the description, but leads to another one while the API server's list is behind.
type described struct {
	address string
	read    time.Time
	kinds   map[string]*apifields.Fields
}

// UnknownField returns the path of a field of an object that its kind does not have in the cluster, and the version of
// that API, empty where it is not known; no path if all fields are known, or if the kind is built in or not described.
func (d *Discovered) UnknownField(ctx context.Context, object *unstructured.Unstructured) (path, version string) {
	kind := object.GroupVersionKind()
	if scheme.Scheme.Recognizes(kind) {
		return "", ""
	}
	path, err := d.unknown(ctx, object)
	if path != "" && d.describeAgain(ctx, groupOf(kind)) {
		path, err = d.unknown(ctx, object)
	}
	if err != nil {
		log.FromContext(ctx).Info("fields of a kind are not known: the API server will report what it refuses", "kind", kind.Kind,
			"reason", err.Error())
		return "", ""
	}
	if path != "" && d.Version != nil {
		version = d.Version(ctx, kind)
	}
	return path, version
}

func (d *Discovered) unknown(ctx context.Context, object *unstructured.Unstructured) (string, error) {
	fields, err := d.fieldsOf(ctx, object.GroupVersionKind())
	return fields.Unknown(object.Object), err
}

// describeAgain causes a group to be read again, at the address that is listed now, unless it was read a moment ago,
// and reports whether it will be. A busy API server describes a changed kind a minute later than it serves it, and no
// event says so.
func (d *Discovered) describeAgain(ctx context.Context, group string) bool {
	d.describing.Lock()
	defer d.describing.Unlock()
	d.mu.Lock()
	recent := d.Clock.Since(d.described[group].read) < unsettledAge
	d.mu.Unlock()
	if recent {
		return false
	}
	list := describe(ctx, d.Discovery)
	if list == nil {
		return false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.descriptions = list
	delete(d.described, group)
	return true
}

// groupOf returns the group and version of a kind, as where it is described is listed.
func groupOf(kind schema.GroupVersionKind) string { return "apis/" + kind.GroupVersion().String() }

// fieldsOf returns the fields of a kind; nil if they are not known. A description is read when it is first asked for,
// and again when it has changed.
func (d *Discovered) fieldsOf(ctx context.Context, kind schema.GroupVersionKind) (*apifields.Fields, error) {
	if _, _, err := d.Get(ctx); err != nil {
		return nil, err
	}
	d.describing.Lock()
	defer d.describing.Unlock()
	group := groupOf(kind)
	at, known := d.description(group)
	if at == nil || known.address == at.ServerRelativeURL() {
		return known.kinds[kind.Kind], nil
	}
	document, err := at.SchemaWithContext(ctx, runtime.ContentTypeJSON)
	if err != nil {
		return nil, fmt.Errorf("cannot read the description of %s: %w", kind.GroupVersion(), err)
	}
	kinds, err := apifields.Parse(document)
	if err != nil {
		return nil, err
	}
	d.keep(group, described{at.ServerRelativeURL(), d.Clock.Now(), kinds})
	return kinds[kind.Kind], nil
}

// description returns where a group is described, and what was read of it; nothing if it is not described.
func (d *Discovered) description(group string) (openapi.GroupVersionWithContext, described) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.descriptions[group] == nil {
		return nil, described{}
	}
	return d.descriptions[group], d.described[group]
}

func (d *Discovered) keep(group string, read described) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.described == nil {
		d.described = map[string]described{}
	}
	d.described[group] = read
}

// describe lists where all groups are described; nil if that cannot be listed.
func describe(ctx context.Context, from discovery.DiscoveryInterface) map[string]openapi.GroupVersionWithContext {
	list, err := discovery.ToDiscoveryInterfaceWithContext(from).OpenAPIV3WithContext(ctx).PathsWithContext(ctx)
	if err != nil {
		log.FromContext(ctx).Info("fields of kinds are not known", "reason", err.Error())
		return nil
	}
	return list
}

// dropOutdated drops the descriptions that have changed since they were read, and reports whether there are any.
func (d *Discovered) dropOutdated() bool {
	before := len(d.described)
	maps.DeleteFunc(d.described, func(group string, known described) bool {
		at := d.descriptions[group]
		return at == nil || at.ServerRelativeURL() != known.address
	})
	return len(d.described) < before
}

// bundleVersion ends the annotation of a CRD that names the version of its API, as that of the Gateway API.
const bundleVersion = "/bundle-version"

// BundleVersion returns the version of the API that a CRD is part of; empty if it does not say.
func BundleVersion(crd *metav1.PartialObjectMetadata) string {
	for key, value := range crd.Annotations {
		if strings.HasSuffix(key, bundleVersion) {
			return value
		}
	}
	return ""
}
