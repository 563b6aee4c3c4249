package controller

import (
	"context"
	"fmt"
	"sync"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chartutil"
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
	versions, err := action.GetVersionSet(d.Discovery)
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		return nil, fmt.Errorf("cannot read the APIs of the cluster: %w", err)
	}
	return &chartutil.Capabilities{
		KubeVersion: chartutil.KubeVersion{Version: server.GitVersion, Major: server.Major, Minor: server.Minor},
		APIVersions: versions,
		HelmVersion: chartutil.DefaultCapabilities.HelmVersion,
	}, nil
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
