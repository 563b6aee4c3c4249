package conversion

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/example/appservice-operator/internal/kube"
)

// Against returns what prevents the conversion, with the remedy of each. Owner is the tool that applies the AppService,
// as in Argo CD application "shop"; empty if none does.
func (s *State) Against(o Options, owner string, rendered []*unstructured.Unstructured) []string {
	var list []string
	add := func(text string, args ...any) { list = append(list, fmt.Sprintf(text, args...)) }
	if paused, _, _ := unstructured.NestedBool(s.Wanted.Object, "spec", "paused"); paused {
		add("spec.paused is true, and nothing would be created: leave it out")
	}
	if owner != "" && !o.Suspended {
		add("%s would write the AppService as it was: suspend that (%s), and say --gitops-suspended", owner, suspending(owner))
	}
	return slices.Concat(list, s.againstApp(), s.againstData(o), s.againstDeletion(), s.againstService(o, rendered))
}

// againstApp lists why the present AppService cannot be deleted without its objects.
func (s *State) againstApp() []string {
	if s.App == nil {
		return nil
	}
	controller := metav1.GetControllerOfNoCopy(s.App)
	isOrphaned := slices.Contains(s.App.GetFinalizers(), metav1.FinalizerOrphanDependents)
	switch {
	case controller != nil && s.MustGo():
		return []string{fmt.Sprintf("the AppService is controlled by %s %q, which would write it as it was: change it there",
			controller.Kind, controller.Name)}
	case s.App.GetDeletionTimestamp() != nil && !isOrphaned:
		return []string{"the AppService is being deleted with its objects: wait until it is gone, and apply the new one"}
	}
	return nil
}

// suspending returns the command with which a tool leaves the resource alone.
func suspending(owner string) string {
	tool, name, _ := strings.Cut(owner, ` "`)
	name = strings.TrimSuffix(name, `"`)
	switch tool {
	case "Flux Kustomization":
		return "flux suspend kustomization " + name
	case "Flux HelmRelease":
		return "flux suspend helmrelease " + name
	}
	return fmt.Sprintf("argocd app set %s --sync-policy none", name)
}

// againstData lists the claims that would be left behind, and those that cannot be mounted twice.
func (s *State) againstData(o Options) (list []string) {
	for _, claim := range s.Data() {
		switch {
		case claim.Fate == Behind && !o.LeaveData:
			list = append(list, fmt.Sprintf("%s: the new %s does not mount it: have spec.volumes and "+
				"spec.volumeMounts mount it, or say --leave-data", claim, s.New.Kind))
		case claim.Fate == Again && !claim.shares && !s.Again() && s.runs() && !o.StopFirst:
			list = append(list, fmt.Sprintf("%s: the pods of both workloads would mount it, and it is not ReadWriteMany: "+
				"say --stop-first, which ends the old ones before there are new ones", claim))
		}
	}
	return list
}

// againstDeletion lists why claims would be deleted with the old StatefulSet, or with its replicas.
func (s *State) againstDeletion() (list []string) {
	if s.Old == nil || s.Again() {
		return nil
	}
	if keeps := s.Old.Spec.PersistentVolumeClaimRetentionPolicy; len(s.Old.templates()) > 0 && keeps != nil &&
		(keeps.WhenDeleted == appsv1.DeletePersistentVolumeClaimRetentionPolicyType ||
			keeps.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType) {
		return []string{fmt.Sprintf("the claims of %s would be deleted with it: set retain to true and whenScaled to Retain in "+
			"the present AppService first, and wait until it is Ready", s.Old.Key())}
	}
	for i := range s.Claims {
		claim := &s.Claims[i]
		if slices.ContainsFunc(claim.OwnerReferences, func(o metav1.OwnerReference) bool { return o.UID == s.Old.UID }) {
			list = append(list, fmt.Sprintf("%s %s would be deleted with %s: kubectl patch pvc %[2]s --namespace=%[4]s "+
				"--patch='{\"metadata\":{\"ownerReferences\":null}}'", kube.RetainedKind, claim.Name, s.Old.Key(), claim.Namespace))
		}
	}
	return list
}

// againstService says that the Service would select none of the old pods, so that nothing would serve until there are
// new ones: the old workload was adopted, with a selector of its own.
func (s *State) againstService(o Options, rendered []*unstructured.Unstructured) []string {
	if !s.runs() || o.StopFirst || s.Again() {
		return nil
	}
	for _, object := range rendered {
		selector, _, _ := unstructured.NestedStringMap(object.Object, "spec", "selector")
		if object.GetKind() != "Service" || object.GetName() != s.Wanted.GetName() || len(selector) == 0 {
			continue
		}
		if !labels.SelectorFromSet(selector).Matches(labels.Set(s.Old.Spec.Template.Labels)) {
			return []string{fmt.Sprintf("Service %s would not select the pods of %s, which was adopted with other labels, so that "+
				"nothing serves until there are new ones: say --stop-first to allow that", object.GetName(), s.Old.Key())}
		}
	}
	return nil
}

// Warnings returns what the conversion does that nobody may expect.
func (s *State) Warnings() (list []string) {
	if !s.MustGo() {
		return nil
	}
	if s.Old != nil && s.New.Size() < s.Old.Size() {
		list = append(list, fmt.Sprintf("%s has %d replicas, and the new %s starts with %d: set spec.size",
			s.Old.Key(), s.Old.Size(), s.New.Kind, s.New.Size()))
	}
	return list
}
