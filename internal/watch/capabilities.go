package watch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/utils/clock"
)

// CapabilitiesSource tells what the cluster serves, for .Capabilities in templates.
type CapabilitiesSource interface {
	// Get gives the capabilities and a number that changes whenever they do.
	Get(ctx context.Context) (*chartutil.Capabilities, int64, error)
}

// capabilitiesAge is how old the capabilities may be.
const capabilitiesAge = time.Hour

// Discovered are capabilities read from the API server, shared by all reconciles and read again every hour. It is safe
// for concurrent use.
type Discovered struct {
	Discovery discovery.DiscoveryInterface
	Clock     clock.PassiveClock

	mu      sync.Mutex
	current *chartutil.Capabilities
	version int64
	read    time.Time
}

// Get implements CapabilitiesSource.
func (d *Discovered) Get(context.Context) (*chartutil.Capabilities, int64, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.current != nil && d.Clock.Since(d.read) < capabilitiesAge {
		return d.current, d.version, nil
	}
	fresh, err := d.discover()
	if err != nil && d.current == nil {
		return nil, 0, err
	}
	d.read = d.Clock.Now()
	if err == nil && !same(d.current, fresh) {
		d.current = fresh
		d.version++
	}
	return d.current, d.version, nil
}

// Invalidate has the capabilities read again when they are next asked for.
func (d *Discovered) Invalidate() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.read = time.Time{}
}

func (d *Discovered) discover() (*chartutil.Capabilities, error) {
	server, err := d.Discovery.ServerVersion()
	if err != nil {
		return nil, fmt.Errorf("cannot read the version of the API server: %w", err)
	}
	source := &partial{ServerResourcesInterface: d.Discovery}
	versions, err := action.GetVersionSet(source)
	if err != nil {
		return nil, fmt.Errorf("cannot read the APIs of the cluster: %w", err)
	}
	versions = slices.Concat(versions, d.known(source.failed, versions))
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: server.GitVersion, Major: server.Major, Minor: server.Minor},
		APIVersions: versions,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}, nil
}

// partial remembers which groups could not be read: Helm leaves them out in silence.
type partial struct {
	discovery.ServerResourcesInterface
	failed map[schema.GroupVersion]error
}

func (p *partial) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	groups, lists, err := p.ServerResourcesInterface.ServerGroupsAndResources()
	p.failed, _ = discovery.GroupDiscoveryFailedErrorGroups(err)
	return groups, lists, err
}

// known gives what was known of groups that cannot be read now, less what is read: a kind that only seems to be gone would
// be left out, and its objects deleted.
func (d *Discovered) known(failed map[schema.GroupVersion]error, read chartutil.VersionSet) chartutil.VersionSet {
	var list chartutil.VersionSet
	if d.current == nil {
		return list
	}
	for _, api := range d.current.APIVersions {
		for group := range failed {
			if (api == group.String() || strings.HasPrefix(api, group.String()+"/")) && !read.Has(api) {
				list = append(list, api)
			}
		}
	}
	return list
}

func same(a, b *chartutil.Capabilities) bool {
	if a == nil || a.KubeVersion != b.KubeVersion || len(a.APIVersions) != len(b.APIVersions) {
		return false
	}
	have := make(map[string]bool, len(a.APIVersions))
	for _, version := range a.APIVersions {
		have[version] = true
	}
	for _, version := range b.APIVersions {
		if !have[version] {
			return false
		}
	}
	return true
}
