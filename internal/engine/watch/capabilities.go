package watch

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	"k8s.io/utils/clock"
)

// CapabilitiesSource returns what the cluster serves, for .Capabilities in templates.
type CapabilitiesSource interface {
	// Get returns the capabilities and a number that changes whenever they do, or the fields of a kind.
	Get(ctx context.Context) (*chartutil.Capabilities, int64, error)
}

const (
	// capabilitiesAge is the maximum age of the capabilities.
	capabilitiesAge = time.Hour
	// unsettledAge is their maximum age if they were read within settling of a change: discovery follows a moment later.
	unsettledAge = time.Second
)

var settling = discoveryDelays[len(discoveryDelays)-1]

// Discovered are capabilities read from the API server, shared by all reconciles and read again every hour. It is safe
// for concurrent use.
type Discovered struct {
	Discovery discovery.DiscoveryInterface
	Clock     clock.PassiveClock
	// Version returns the version of the API that a kind is part of, empty if it is not known; nil if none is.
	Version func(context.Context, schema.GroupVersionKind) string

	mu      sync.Mutex
	turn    chan struct{} // holds one entry during a read
	current *chartutil.Capabilities
	version int64
	changed time.Time // when the served kinds were last seen to change
	read    time.Time // time of the last read; a read during which something changed does not count

	describing   sync.Mutex                                 // held while a description is read
	descriptions map[string]openapi.GroupVersionWithContext // where groups are described
	described    map[string]described
}

// Get implements CapabilitiesSource. One caller reads for all; the others wait for it, or until their context ends.
func (d *Discovered) Get(ctx context.Context) (*chartutil.Capabilities, int64, error) {
	known := d.known()
	if known.fresh {
		return known.capabilities, known.version, nil
	}
	select {
	case known.turn <- struct{}{}:
		defer func() { <-known.turn }()
	case <-ctx.Done():
		return nil, 0, fmt.Errorf("cannot read the APIs of the cluster: %w", ctx.Err())
	}
	if known = d.known(); known.fresh {
		return known.capabilities, known.version, nil
	}
	began := d.Clock.Now()
	read, err := d.discover(ctx, known.capabilities)
	if err != nil && known.capabilities == nil {
		return nil, 0, err
	}
	capabilities, version := d.note(began, read, describe(ctx, d.Discovery))
	return capabilities, version, nil
}

// Serves reports whether the cluster serves a kind, as far as known.
func (d *Discovered) Serves(ctx context.Context, kind schema.GroupVersionKind) bool {
	capabilities, _, err := d.Get(ctx)
	return err == nil && capabilities.APIVersions.Has(path.Join(kind.GroupVersion().String(), kind.Kind))
}

// state is the knowledge at a time.
type state struct {
	capabilities *chartutil.Capabilities // nil for nothing
	version      int64
	fresh        bool
	turn         chan struct{}
}

func (d *Discovered) known() state {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turn == nil {
		d.turn = make(chan struct{}, 1)
	}
	return state{d.current, d.version, d.current != nil && d.Clock.Since(d.read) < d.lasts(), d.turn}
}

// lasts returns for how long the capabilities may be used after they were read.
func (d *Discovered) lasts() time.Duration {
	switch {
	case d.read.Before(d.changed):
		return 0
	case d.read.Sub(d.changed) < settling:
		return unsettledAge
	}
	return capabilitiesAge
}

// note stores the result of a read that began at a time, nil for none, and where groups are described.
func (d *Discovered) note(began time.Time, read *chartutil.Capabilities,
	descriptions map[string]openapi.GroupVersionWithContext) (*chartutil.Capabilities, int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.changed.After(began) {
		d.read = d.Clock.Now()
	}
	if descriptions != nil {
		d.descriptions = descriptions
	}
	if read == nil {
		read = d.current
	}
	if outdated := d.dropOutdated(); outdated || !same(d.current, read) {
		d.current = read
		d.version++
	}
	return d.current, d.version
}

// Invalidate causes the capabilities to be read again when they are next requested, even by a caller that is reading
// them now.
func (d *Discovered) Invalidate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.changed = d.Clock.Now()
}

func (d *Discovered) discover(ctx context.Context, before *chartutil.Capabilities) (*chartutil.Capabilities, error) {
	cluster := discovery.ToDiscoveryInterfaceWithContext(d.Discovery)
	server, err := cluster.ServerVersionWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the version of the API server: %w", err)
	}
	groups, lists, err := cluster.ServerGroupsAndResourcesWithContext(ctx)
	failed, someFailed := discovery.GroupDiscoveryFailedErrorGroups(err)
	if err != nil && !someFailed {
		return nil, fmt.Errorf("cannot read the APIs of the cluster: %w", err)
	}
	versions := versionSet(groups, lists)
	versions = slices.Concat(versions, unread(before, failed, versions))
	slices.Sort(versions)
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: server.GitVersion, Major: server.Major, Minor: server.Minor},
		APIVersions: versions,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}, nil
}

// versionSet lists the same as .Capabilities.APIVersions of Helm: group versions, and kinds such as apps/v1/Deployment.
func versionSet(groups []*metav1.APIGroup, lists []*metav1.APIResourceList) chartutil.VersionSet {
	found := map[string]bool{}
	for _, group := range groups {
		for _, version := range group.Versions {
			found[version.GroupVersion] = true
		}
	}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			found[path.Join(list.GroupVersion, resource.Kind)] = true
		}
	}
	return slices.Collect(maps.Keys(found))
}

// unread returns what was known before of groups that cannot be read now, without what was read: a kind that only seems
// to be gone would be left out, and its objects deleted.
func unread(before *chartutil.Capabilities, failed map[schema.GroupVersion]error,
	read chartutil.VersionSet) chartutil.VersionSet {
	var list chartutil.VersionSet
	if before == nil {
		return list
	}
	for _, api := range before.APIVersions {
		for group := range failed {
			if (api == group.String() || strings.HasPrefix(api, group.String()+"/")) && !read.Has(api) {
				list = append(list, api)
			}
		}
	}
	return list
}

func same(a, b *chartutil.Capabilities) bool {
	return a != nil && a.KubeVersion == b.KubeVersion && slices.Equal(a.APIVersions, b.APIVersions)
}
