package plan

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
)

// Plan is the set of writes after which the objects of a resource are as rendered. Every action carries out a plan;
// the empty plan writes nothing.
type Plan struct {
	// Create are rendered objects that do not exist.
	Create []*unstructured.Unstructured
	// Apply are rendered objects whose live state differs.
	Apply []Change
	// Delete are objects of the resource that are no longer rendered.
	Delete []client.Object
	// Terminating are rendered objects that were deleted and still exist, held by finalizers. They are left alone until
	// they are gone; then they are missing.
	Terminating []client.Object
	// Fill are Secrets that only get missing values.
	Fill []Change
	// Adopted are rendered objects that others created and that were taken over.
	Adopted []kube.Key
}

// Adopting returns the plan with objects marked as taken over that it would have created.
func (p *Plan) Adopting(keys []kube.Key) *Plan {
	out := *p
	out.Create = slices.DeleteFunc(slices.Clone(p.Create),
		func(o *unstructured.Unstructured) bool { return slices.Contains(keys, kube.KeyOf(o)) })
	out.Adopted = keys
	return &out
}

// Empty reports whether nothing has to be written.
func (p *Plan) Empty() bool { return len(p.Create)+len(p.Apply)+len(p.Fill)+len(p.Delete) == 0 }

// OnlyDeletes reports whether nothing has to be created or changed.
func (p *Plan) OnlyDeletes() bool { return len(p.Create)+len(p.Apply) == 0 }

// RollsPods reports whether the plan changes, or may change, the template of existing pods, or deletes their workload.
func (p *Plan) RollsPods() bool {
	return slices.ContainsFunc(p.Apply, func(c Change) bool { return c.rolling != stays }) ||
		slices.ContainsFunc(p.Delete, func(o client.Object) bool { return TemplateOfRunning(o) != nil })
}

// MakesPods reports whether the plan creates a workload, or scales one up that has no replicas.
func (p *Plan) MakesPods() bool {
	return slices.ContainsFunc(p.Create, func(o *unstructured.Unstructured) bool { return TemplateOfRunning(o) != nil }) ||
		slices.ContainsFunc(p.Apply, Change.scalesFromZero)
}

// OnlyRestarts reports whether the plan only restarts pods: someone asked for it, or content that they take
// has changed.
func (p *Plan) OnlyRestarts() bool {
	return len(p.Create)+len(p.Delete) == 0 &&
		!slices.ContainsFunc(p.Apply, func(c Change) bool { return !c.onlyRestarts() })
}

// Awaits names the objects that have to be gone before they can be created again; empty if there are none.
func (p *Plan) Awaits() string {
	var parts []string
	for _, object := range p.Terminating {
		parts = append(parts, fmt.Sprintf("%s (%s)", kube.KeyOf(object), kube.DeletionOf(object)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "waiting for deletion to finish before recreating: " + strings.Join(parts, "; ")
}

// Deletions returns those of the objects that have to be gone before they can be created again.
func (p *Plan) Deletions() (list []*kube.Deletion) {
	for _, object := range p.Terminating {
		list = append(list, kube.DeletionOf(object))
	}
	return list
}

// String lists the writes, for example "create Service web; apply Deployment web: spec.replicas 1 → 2".
func (p *Plan) String() string {
	var parts []string
	for _, key := range p.Adopted {
		parts = append(parts, "adopt "+key.String())
	}
	for _, object := range p.Create {
		parts = append(parts, "create "+kube.KeyOf(object).String())
	}
	for _, change := range p.Apply {
		parts = append(parts, "apply "+change.String())
	}
	for _, object := range p.Delete {
		parts = append(parts, "delete "+kube.KeyOf(object).String())
	}
	return strings.Join(parts, "; ")
}

// Repairs returns the fields that a plan of repairs restores, by object, for example "Deployment web: spec.replicas";
// the object alone stands for one that is created.
func (p *Plan) Repairs() map[kube.Key]string {
	repairs := make(map[kube.Key]string, len(p.Create)+len(p.Apply))
	for _, object := range p.Create {
		repairs[kube.KeyOf(object)] = kube.KeyOf(object).String()
	}
	for _, change := range p.Apply {
		key := kube.KeyOf(change.Desired)
		repairs[key] = strings.TrimSuffix(key.String()+": "+change.Field, ": ")
	}
	return repairs
}

// HoldBack removes objects from the plan.
func (p *Plan) HoldBack(keys ...kube.Key) {
	p.Create = slices.DeleteFunc(p.Create,
		func(o *unstructured.Unstructured) bool { return slices.Contains(keys, kube.KeyOf(o)) })
	p.Apply = slices.DeleteFunc(p.Apply, func(c Change) bool { return slices.Contains(keys, kube.KeyOf(c.Desired)) })
	p.Delete = slices.DeleteFunc(p.Delete, func(o client.Object) bool { return slices.Contains(keys, kube.KeyOf(o)) })
}

// Only returns the part of the plan that creates or applies some objects, and creates others or adds missing values.
func (p *Plan) Only(write, create []kube.Key) *Plan {
	out := &Plan{}
	for _, object := range p.Create {
		if key := kube.KeyOf(object); slices.Contains(write, key) || slices.Contains(create, key) {
			out.Create = append(out.Create, object)
		}
	}
	for _, change := range p.Apply {
		switch key := kube.KeyOf(change.Desired); {
		case slices.Contains(write, key):
			out.Apply = append(out.Apply, change)
		case slices.Contains(create, key) && change.Fills:
			out.Fill = append(out.Fill, change)
		}
	}
	return out
}

// Touches reports whether the plan writes an object, or waits until it is gone.
func (p *Plan) Touches(key kube.Key) bool {
	return slices.ContainsFunc(p.Create, func(o *unstructured.Unstructured) bool { return kube.KeyOf(o) == key }) ||
		slices.ContainsFunc(p.Apply, func(c Change) bool { return kube.KeyOf(c.Desired) == key }) ||
		slices.ContainsFunc(p.Terminating, func(o client.Object) bool { return kube.KeyOf(o) == key })
}

// Restamps reports whether a plan changes objects that another release applied.
func (p *Plan) Restamps() bool {
	return slices.ContainsFunc(p.Apply, func(c Change) bool { return StampOf(c.Live) != StampOf(c.Desired) })
}

// AsksForGenerated reports whether a plan creates Secrets that the operator fills.
func (p *Plan) AsksForGenerated() bool {
	return slices.ContainsFunc(p.Create, func(o *unstructured.Unstructured) bool { return !generate.Of(o).None() })
}
