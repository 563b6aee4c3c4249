package release

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/generate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// created returns an object as it is created: a workload with its number of replicas, a Secret with its values.
func (a *applier) created(desired *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	wanted := generate.Of(desired)
	if wanted.None() {
		return started(desired), nil
	}
	filled, err := a.maker.Fill(wanted, nil, generate.Note{}, a.firstVersion)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(desired), err)
	}
	secret := desired.DeepCopy()
	for key, value := range encoded(filled.Data) {
		if err := unstructured.SetNestedField(secret.Object, value, "data", key); err != nil {
			return nil, fmt.Errorf("%s: %w", kube.KeyOf(desired), err)
		}
	}
	return secret, nil
}

// fill makes the values that a live Secret lacks, and notes them. It returns the Secret as written; nil if no write was
// needed. Whatever has a value keeps it.
func (a *applier) fill(ctx context.Context, desired *unstructured.Unstructured,
	live client.Object) (client.Object, error) {
	if plan.Unfilled(desired, live) == "" {
		return nil, nil
	}
	content, full := kube.Content(live)
	if !full {
		read := identity(live)
		if err := a.live.Get(ctx, client.ObjectKeyFromObject(read), read); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", kube.KeyOf(read), err)
		}
		content = read.Object // the version of live is a precondition
	}
	have, err := decoded(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(live), err)
	}
	for _, field := range []string{"data", "stringData"} { // rendered fields belong to the other manager
		rendered, _, _ := unstructured.NestedMap(desired.Object, field)
		for key := range rendered {
			delete(have, key)
		}
	}
	filled, err := a.maker.Fill(generate.Of(desired), have, generate.NoteOf(live), a.firstVersion)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", kube.KeyOf(live), err)
	}
	holder := identity(live)
	holder.SetAnnotations(filled.Annotations)
	holder.Object["data"] = encoded(filled.Data)
	held, err := a.holdAs(ctx, generatedManager, live, holder)
	if err != nil {
		return nil, err
	}
	return held, nil
}
