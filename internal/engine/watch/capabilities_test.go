package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi"
	clocktesting "k8s.io/utils/clock/testing"
)

// served is what an API server says of itself.
type served struct {
	discovery.DiscoveryInterface

	mu        sync.Mutex
	asked     int
	held      chan struct{} // answers wait until it is closed, unless it is nil
	waiting   chan struct{} // closed by the first that waits
	version   string
	kinds     map[string][]string // by group and version
	noVersion error
	noGroups  error

	descriptions map[string]string
	behind       map[string]string // what the list of descriptions is of; nil if it is not behind
	read         int               // descriptions
}

func (s *served) ServerVersion() (*version.Info, error) {
	if s.held != nil {
		close(s.waiting)
		<-s.held
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	return &version.Info{GitVersion: s.version, Major: "1", Minor: "36"}, s.noVersion
}

func (s *served) ServerGroupsAndResources() ([]*metav1.APIGroup, []*metav1.APIResourceList, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var groups []*metav1.APIGroup
	var lists []*metav1.APIResourceList
	for groupVersion, kinds := range s.kinds {
		groups = append(groups, &metav1.APIGroup{Versions: []metav1.GroupVersionForDiscovery{{GroupVersion: groupVersion}}})
		list := &metav1.APIResourceList{GroupVersion: groupVersion}
		for _, kind := range kinds {
			list.APIResources = append(list.APIResources, metav1.APIResource{Kind: kind})
		}
		lists = append(lists, list)
	}
	return groups, lists, s.noGroups
}

// OpenAPIV3 implements discovery.DiscoveryInterface.
func (s *served) OpenAPIV3() openapi.Client { return s }

// Paths implements openapi.Client.
func (s *served) Paths() (map[string]openapi.GroupVersion, error) {
	out := map[string]openapi.GroupVersion{}
	for group, text := range s.descriptions {
		out[group] = description{s, text, cmp.Or(s.behind[group], text)}
	}
	return out, nil
}

// description describes the kinds of a group and version; its address changes with what is listed.
type description struct {
	of           *served
	text, listed string
}

func (d description) ServerRelativeURL() string { return fmt.Sprint(len(d.listed)) }

func (d description) Schema(string) ([]byte, error) {
	d.of.read++
	return []byte(d.text), nil
}

func TestCapabilities(t *testing.T) {
	cluster := &served{version: "v1.36.0", kinds: map[string][]string{"v1": {"Service", "Pod"}, "apps/v1": {"Deployment"}}}
	clock := clocktesting.NewFakePassiveClock(start)
	d := &Discovered{Discovery: cluster, Clock: clock}
	get := func(what string, version int64, asked int, has ...string) {
		t.Helper()
		cluster.asked = 0
		got, at, err := d.Get(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if at != version || cluster.asked != asked {
			t.Errorf("%s: got number %d after %d questions, want %d after %d", what, at, cluster.asked, version, asked)
		}
		if got.KubeVersion.Version != cluster.version && asked > 0 && cluster.noVersion == nil && cluster.noGroups == nil {
			t.Errorf("%s: got version %s, want %s", what, got.KubeVersion.Version, cluster.version)
		}
		for _, api := range has {
			if !slices.Contains(got.APIVersions, api) {
				t.Errorf("%s: %s is missing in %v", what, api, got.APIVersions)
			}
		}
		if got.HelmVersion.Version == "" {
			t.Errorf("%s: Helm has no version", what)
		}
	}
	get("at first", 1, 1, "v1", "v1/Service", "v1/Pod", "apps/v1", "apps/v1/Deployment")
	get("the second time", 1, 0)
	clock.SetTime(start.Add(time.Hour - time.Second))
	get("before the hour is over", 1, 0)
	clock.SetTime(start.Add(time.Hour))
	get("after an hour in which nothing changed", 1, 1, "v1/Service")

	cluster.kinds["monitoring.coreos.com/v1"] = []string{"ServiceMonitor"}
	get("before the next hour is over", 1, 0)
	clock.SetTime(start.Add(2 * time.Hour))
	get("after a kind was added", 2, 1, "monitoring.coreos.com/v1/ServiceMonitor")

	delete(cluster.kinds, "monitoring.coreos.com/v1")
	cluster.kinds["example.com/v1"] = []string{"Widget"}
	clock.SetTime(start.Add(3 * time.Hour))
	get("after a kind was exchanged for another", 3, 1, "example.com/v1/Widget")

	cluster.version = "v1.37.0"
	clock.SetTime(start.Add(4 * time.Hour))
	get("after the cluster was upgraded", 4, 1)

	cluster.noVersion = errors.New("not now")
	clock.SetTime(start.Add(5 * time.Hour))
	get("after an error of the version", 4, 1, "example.com/v1/Widget")
	cluster.noVersion, cluster.noGroups = nil, errors.New("not now")
	clock.SetTime(start.Add(6 * time.Hour))
	get("after an error of the groups", 4, 1, "example.com/v1/Widget")
	cluster.noGroups = nil
	clock.SetTime(start.Add(7 * time.Hour))
	get("after the errors", 4, 1, "example.com/v1/Widget")
}

func TestCapabilitiesThatWereNeverReadAreAnErrorAndAreAskedForAgain(t *testing.T) {
	cases := map[string]*served{
		"no version": {noVersion: errors.New("not now")},
		"no groups":  {noGroups: errors.New("not now")},
	}
	for name, cluster := range cases {
		t.Run(name, func(t *testing.T) {
			cause := errors.Join(cluster.noVersion, cluster.noGroups)
			d := &Discovered{Discovery: cluster, Clock: clocktesting.NewFakePassiveClock(start)}
			if _, _, err := d.Get(t.Context()); err == nil || cause == nil {
				t.Fatalf("got %v", err)
			}
			cluster.noVersion, cluster.noGroups, cluster.version = nil, nil, "v1.36.0"
			if _, at, err := d.Get(t.Context()); err != nil || at != 1 {
				t.Errorf("the second time: got number %d and %v", at, err)
			}
		})
	}
}

// One API that is ill, such as that of a metrics server, does not keep the others from being known.
func TestCapabilitiesWhereOneGroupCannotBeRead(t *testing.T) {
	cluster := &served{version: "v1.36.0", kinds: map[string][]string{"v1": {"Service"}}, noGroups: &discovery.ErrGroupDiscoveryFailed{
		Groups: map[schema.GroupVersion]error{{Group: "metrics.k8s.io", Version: "v1beta1"}: errors.New("not now")},
	}}
	d := &Discovered{Discovery: cluster, Clock: clocktesting.NewFakePassiveClock(start)}
	got, _, err := d.Get(t.Context())
	if err != nil || !got.APIVersions.Has("v1/Service") {
		t.Errorf("got %v and %v", got, err)
	}
}

// A kind that cannot be read for a moment is not gone: its objects would be deleted.
func TestCapabilitiesKeepWhatWasKnownOfAGroupThatCannotBeRead(t *testing.T) {
	const group = "monitoring.coreos.com/v1"
	ill := &discovery.ErrGroupDiscoveryFailed{Groups: map[schema.GroupVersion]error{{Group: "monitoring.coreos.com", Version: "v1"}: errors.New("not now")}}
	cluster := &served{version: "v1.36.0", kinds: map[string][]string{
		"v1": {"Service"}, group: {"ServiceMonitor"}, "monitoring.coreos.com/v1beta1": {"Probe"},
	}}
	clock := clocktesting.NewFakePassiveClock(start)
	d := &Discovered{Discovery: cluster, Clock: clock}
	for hour, step := range []struct {
		what    string
		kinds   []string // of the group; none where it is not even listed
		listed  bool
		fail    error
		version int64
		has     bool
	}{
		{"at first", []string{"ServiceMonitor"}, true, nil, 1, true},
		{"while the group is ill", nil, true, ill, 1, true},
		{"while it is still ill and not even listed", nil, false, ill, 1, true},
		{"after that", []string{"ServiceMonitor"}, true, nil, 1, true},
		{"when it is gone", nil, false, nil, 2, false},
		{"when it is ill and was not known", nil, false, ill, 2, false},
	} {
		clock.SetTime(start.Add(time.Duration(hour) * time.Hour))
		delete(cluster.kinds, group)
		if step.listed {
			cluster.kinds[group] = step.kinds
		}
		cluster.noGroups = step.fail
		got, at, err := d.Get(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		if has := got.APIVersions.Has(group + "/ServiceMonitor"); has != step.has || at != step.version {
			t.Errorf("%s: got the kind: %t, number %d; want %t, %d", step.what, has, at, step.has, step.version)
		}
	}
	delete(cluster.kinds, "monitoring.coreos.com/v1beta1")
	clock.SetTime(start.Add(24 * time.Hour))
	if got, _, _ := d.Get(t.Context()); got.APIVersions.Has("monitoring.coreos.com/v1beta1/Probe") {
		t.Error("another version of the group was kept, which is gone")
	}
}

func TestCapabilitiesAreReadOnceForMany(t *testing.T) {
	cluster := &served{version: "v1.36.0", kinds: map[string][]string{"v1": {"Service"}}}
	d := &Discovered{Discovery: cluster, Clock: clocktesting.NewFakePassiveClock(start)}
	var group sync.WaitGroup
	for range 16 {
		group.Go(func() {
			if _, at, err := d.Get(context.Background()); err != nil || at != 1 {
				t.Errorf("got number %d and %v", at, err)
			}
		})
	}
	group.Wait()
	if cluster.asked != 1 {
		t.Errorf("the API server was asked %d times", cluster.asked)
	}
}

// A discovery that hangs delays its callers no longer than their contexts last, and misses no change meanwhile.
func TestCapabilitiesThatAreSlowToCome(t *testing.T) {
	cluster := &served{version: "v1.36.0", kinds: map[string][]string{"v1": {"Service"}}, held: make(chan struct{}), waiting: make(chan struct{})}
	now := clocktesting.NewFakePassiveClock(start)
	d := &Discovered{Discovery: cluster, Clock: now}
	first := make(chan error)
	go func() {
		_, _, err := d.Get(context.Background())
		first <- err
	}()
	<-cluster.waiting
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := d.Get(impatient); !errors.Is(err, context.Canceled) {
		t.Errorf("who waits for the reader: got %v", err)
	}
	now.SetTime(start.Add(time.Millisecond))
	d.Invalidate()
	close(cluster.held)
	assert.NoError(t, <-first)
	cluster.held = nil
	if _, _, err := d.Get(t.Context()); err != nil || cluster.asked != 2 {
		t.Errorf("after a change while it was read: asked %d times, error %v", cluster.asked, err)
	}
}

// Discovery follows a change a moment later: what is read until then may be too old, and is not kept for an hour.
func TestWhatIsReadRightAfterAChangeIsReadAgain(t *testing.T) {
	cluster := &served{version: "v1.36.0", kinds: map[string][]string{"v1": {"Service"}}}
	now := clocktesting.NewFakePassiveClock(start)
	d := &Discovered{Discovery: cluster, Clock: now}
	for _, step := range []struct {
		after      time.Duration
		invalidate bool
		asked      int // in all
	}{
		{asked: 1},
		{after: time.Minute, asked: 1},
		{invalidate: true, asked: 2},
		{after: time.Second / 2, asked: 2},
		{after: time.Second, asked: 3},
		{after: time.Second / 2, invalidate: true, asked: 4},
		{after: settling, asked: 5},
		{after: time.Minute, asked: 5},
		{after: time.Hour, asked: 6},
	} {
		now.SetTime(now.Now().Add(step.after))
		if step.invalidate {
			d.Invalidate()
		}
		if _, _, err := d.Get(t.Context()); err != nil || cluster.asked != step.asked {
			t.Errorf("at %s: asked %d times, want %d, error %v", now.Now().Sub(start), cluster.asked, step.asked, err)
		}
	}
}
