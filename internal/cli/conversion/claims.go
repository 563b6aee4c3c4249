package conversion

import (
	"cmp"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/text"
)

// Fate is what becomes of a claim.
type Fate string

// The fates.
const (
	// Again: the new workload mounts it, as the old one does.
	Again Fate = "is mounted again, with its data"
	// Behind: the old workload mounts it, and the new one does not. It is never deleted.
	Behind Fate = "stays with its data, and nothing mounts it any more"
	// There: only the new workload mounts it, and it exists.
	There Fate = "exists, and is mounted as it is"
	// Fresh: only the new workload mounts it, and it does not exist.
	Fresh Fate = "is new, and empty"
)

// Claim is a PersistentVolumeClaim of the old or the new workload.
type Claim struct {
	Name, Size string
	Fate       Fate
	// shares says that pods on several nodes can mount it.
	shares bool
}

func (c Claim) String() string { return fmt.Sprintf("%s %s, %s", kube.RetainedKind, c.Name, c.Size) }

// Data returns what becomes of the claims of both workloads: those that exist first, by name.
func (s *State) Data() []Claim {
	var list []Claim
	for i := range s.Claims {
		claim := &s.Claims[i]
		if fate := s.fate(claim.Name); fate != "" {
			list = append(list, Claim{claim.Name, sizeOf(claim), fate, shares(claim)})
		}
	}
	slices.SortFunc(list, func(a, b Claim) int { return cmp.Compare(a.Name, b.Name) })
	return append(list, s.fresh(list)...)
}

// fate returns what becomes of a claim that exists; empty if neither workload mounts it.
func (s *State) fate(name string) Fate {
	was, is := s.Old != nil && s.Old.mounts(name), s.New.mounts(name)
	switch {
	case was && is:
		return Again
	case was:
		return Behind
	case is:
		return There
	}
	return ""
}

// fresh returns the claims that the new workload begins with and that do not exist. The size of shared ones is that
// of the AppService.
func (s *State) fresh(there []Claim) (list []Claim) {
	known := func(name string) bool {
		is := func(claim Claim) bool { return claim.Name == name }
		return slices.ContainsFunc(there, is) || slices.ContainsFunc(list, is)
	}
	replicas := 1
	if len(s.New.templates()) > 0 {
		replicas = max(s.New.Size(), 1)
	}
	for replica := range replicas {
		for _, name := range s.New.claims(replica) {
			if !known(name) {
				list = append(list, Claim{Name: name, Size: s.New.sizeOf(name), Fate: Fresh})
			}
		}
	}
	return list
}

// sizeOf returns what the templates of a workload say of the size of a claim.
func (w *Workload) sizeOf(name string) string {
	volume := w.volume(name)
	for i := range w.Spec.VolumeClaimTemplates {
		if template := &w.Spec.VolumeClaimTemplates[i]; template.Name == volume {
			return sizeOf(template)
		}
	}
	return "for all replicas"
}

func sizeOf(claim *corev1.PersistentVolumeClaim) string {
	size, bound := claim.Status.Capacity[corev1.ResourceStorage]
	if !bound {
		size = claim.Spec.Resources.Requests[corev1.ResourceStorage]
	}
	return size.String()
}

func shares(claim *corev1.PersistentVolumeClaim) bool {
	return slices.Contains(claim.Spec.AccessModes, corev1.ReadWriteMany) ||
		slices.Contains(claim.Spec.AccessModes, corev1.ReadOnlyMany)
}

// ListOf returns the command that lists what a claim of the old workload holds; empty if no pod mounts it.
func (s *State) ListOf(claim Claim) string {
	pod, path := s.mountedIn(claim.Name)
	if path == "" {
		return ""
	}
	return fmt.Sprintf("kubectl exec --namespace=%s %s --container=%s -- ls -lA %s", pod.Namespace, pod.Name, mainContainer,
		text.Shell(path))
}

// Copies returns the commands that copy data from the pods of the old workload to those of the new one: of each volume
// whose claims are left behind and that the new workload mounts in the same place, by one pod of each.
func (s *State) Copies() (commands []string) {
	done := map[string]bool{}
	for _, claim := range s.Data() {
		from, path := s.mountedIn(claim.Name)
		to := s.writes(path)
		if claim.Fate != Behind || path == "" || to == "" || done[path] {
			continue
		}
		done[path] = true
		commands = append(commands, fmt.Sprintf("kubectl exec --namespace=%s %s --container=%[3]s -- tar -C %[4]s -cf - . | "+
			"kubectl exec --namespace=%[1]s -i %[5]s --container=%[3]s -- tar -C %[4]s -xf -", from.Namespace, from.Name,
			mainContainer, text.Shell(path), to))
	}
	return commands
}

// mountedIn returns a pod of the old workload that mounts a claim, and where; nil and empty if none does.
func (s *State) mountedIn(claim string) (*corev1.Pod, string) {
	for i := range s.OldPods {
		pod := &s.OldPods[i]
		if slices.Contains(mountedBy(&pod.Spec), claim) {
			return pod, s.Old.path(s.Old.volume(claim))
		}
	}
	return nil, ""
}

// writes returns the first pod of the new workload if it mounts a claim at a path; else empty.
func (s *State) writes(path string) string {
	if len(s.Pods) == 0 {
		return ""
	}
	for _, claim := range mountedBy(&s.Pods[0].Spec) {
		if s.New.path(s.New.volume(claim)) == path {
			return s.Pods[0].Name
		}
	}
	return ""
}
