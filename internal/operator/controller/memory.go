package controller

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
)

// memory has the process's memory of each resource. Losing it costs time, never correctness. The map is locked;
// one reconcile at a time uses the memory of one resource.
type memory struct {
	mu        sync.Mutex
	resources map[types.NamespacedName]*remembered
}

// remembered is the memory of one resource: each field belongs to the step of the same name.
type remembered struct {
	uid types.UID
	// rendered last; nil if that failed.
	rendered *rendered
	// verified are the objects that were found to match a release.
	verified plan.Verified
	// recorded release, of a resource that waits; nil if it was not read.
	recorded *recorded
	// contests are the fields that were repaired; nil if none was.
	contests map[string]*contest
	// looks at the pods of workloads that are not as desired.
	looks schedules
	// notice of a release by the controllers of its workloads.
	notice notice
	// backoff after failed attempts.
	backoff backoff[version]

	groups groups
}

// groups are the API groups of the objects that a resource renders, including those left out. They may be read while it
// is reconciled.
type groups struct {
	mu   sync.Mutex
	list []string
}

// set sets the groups, and reports whether there were none.
func (g *groups) set(list []string) (first bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	first = g.list == nil
	g.list = slices.Compact(slices.Sorted(slices.Values(list)))
	return first
}

func (g *groups) has(group string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Contains(g.list, group)
}

// of returns the memory of a resource; nil if there is none.
func (m *memory) of(name types.NamespacedName) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.resources[name]
}

// remember returns the memory of a resource; empty at first.
func (m *memory) remember(name types.NamespacedName, uid types.UID) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.resources[name]
	if known == nil {
		known = &remembered{uid: uid}
		if m.resources == nil {
			m.resources = map[types.NamespacedName]*remembered{}
		}
		m.resources[name] = known
	}
	return known
}

func (m *memory) uid(name types.NamespacedName) types.UID {
	if known := m.of(name); known != nil {
		return known.uid
	}
	return ""
}

// forget drops the memory of a resource and returns it.
func (m *memory) forget(name types.NamespacedName) *remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	known := m.resources[name]
	delete(m.resources, name)
	return known
}

func (m *memory) rendering(group string) []types.NamespacedName {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []types.NamespacedName
	for name, known := range m.resources {
		if known.groups.has(group) {
			list = append(list, name)
		}
	}
	return list
}

// version identifies what an attempt is for: another spec, chart, adoption or other defaults are tried at once, however
// the attempts before ended.
type version struct {
	generation      int64
	chart, defaults string // digests
	adoption        string
	again           string // Secrets that may be filled again
}

// contest is the memory of a field that was repaired, and of who changed it since.
type contest struct {
	repairPace
	by, remedy string
}

// schedules are the schedules of looks, by the object that is not as desired. Objects that need no looks are left out.
type schedules map[kube.Key]*diagnose.PodReads

// recorded is the memory of the recorded release of a resource that waits.
type recorded struct {
	record     types.UID
	keys       []kube.Key
	references []reference.Reference
	// before are the keys of its stage `before`, and replicas the numbers of replicas that it renders.
	before   []kube.Key
	replicas map[kube.Key]int64
	// request of the user and content that the pods were last restarted for.
	request string
	content reference.Content
	// returned says what failed before it was applied again; zero if nothing did.
	returned release.Returned
	// generated are the versions of the values in Secrets that they were last restarted for, by name.
	generated map[string]string
}
