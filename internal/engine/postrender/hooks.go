// Package postrender is the chain of hooks that every rendered object goes through: what templates cannot do, because
// it needs the resource itself or the cluster, or must hold for every chart. A hook is one small file; it reads no
// cluster (all it may know is in Input) and may fail, which stops the reconcile before anything is written.
package postrender

import (
	"context"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Default is the chain that the operator and its command line use, in order.
func Default() []Hook {
	return []Hook{Canonical, Granted, Reserved, Images, PullPolicy, Restart, Reload, Generated, Checksum, PodSecurity,
		Rerun, Stages, Selectors, Ownership, Labels, Claims, Policy}
}

// Run passes the objects through the hooks in order and stops at the first that fails.
func Run(ctx context.Context, hooks []Hook, in *Input, objects []*unstructured.Unstructured) error {
	for _, hook := range hooks {
		if err := hook(ctx, in, objects); err != nil {
			return err
		}
	}
	return nil
}
