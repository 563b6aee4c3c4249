package watch

import (
	"context"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/internal/engine/kube/gateway"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
)

// Gateways returns the facts about Gateways, whoever owns them. Unknown ones are left out: a cluster need not serve
// the kind, and the operator need not have the right to read it. Resources that refer to a Gateway are reconciled when
// it has a new version.
func (r *Referrers) Gateways(ctx context.Context, names []types.NamespacedName) gateway.Gateways {
	if len(names) == 0 || !r.Served(ctx, gateway.Kind) {
		return nil
	}
	logger := log.FromContext(ctx).V(1)
	if known, err := r.ensure(ctx, reference.Gateway); err != nil || !known {
		logger.Info("gateways cannot be seen", "reason", err)
		return nil
	}
	out := gateway.Gateways{}
	for _, name := range names {
		state, err := r.Dependencies.Look(ctx, name.Namespace,
			reference.Object{Kind: reference.Gateway, Name: name.Name}, false)
		if err != nil { // or it is in a namespace that the caches do not hold
			logger.Info("gateway cannot be seen", "gateway", name.String(), "reason", err.Error())
			continue
		}
		out[name] = state.Gateway
	}
	return out
}
