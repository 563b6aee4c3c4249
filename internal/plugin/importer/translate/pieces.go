package translate

import (
	"slices"

	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// pieces returns the pieces of the spec, the image first. Defaults are removed later.
func (a *Application) pieces() []piece {
	if a.Cron != nil {
		return a.jobPieces()
	}
	list := a.containerPieces()
	list = slices.Concat(list[:1], a.podPieces(), list[1:]) // volumes before their mounts
	list = append(list, a.workloadPieces()...)
	list = append(list, a.portPieces()...)
	list = append(list, a.probePieces()...)
	list = append(list, a.securityPieces()...)
	list = append(list, a.configPieces()...)
	list = append(list, a.accountPieces()...)
	list = append(list, a.networkPieces()...)
	list = append(list, a.operationPieces()...)
	list = append(list, a.taskPieces()...)
	return append(list, a.labelPieces()...)
}

func (a *Application) networkPieces() []piece {
	var list []piece
	if a.ingress != nil {
		list = append(list, piece{from: Source{read.Describe(a.ingress.Object), "spec"}, set: a.toIngress})
	}
	if a.policy != nil {
		list = append(list, piece{from: Source{read.Describe(a.policy.Object), "spec"}, set: a.toNetworkPolicy})
	}
	if a.route != nil {
		route, _ := a.toRoute(a.route)
		list = append(list, piece{from: Source{read.Describe(a.route), "spec"}, set: func(spec *v1.AppServiceSpec) { spec.Route = route }})
	}
	return list
}

func (a *Application) operationPieces() []piece {
	var list []piece
	if a.scaler != nil {
		list = append(list, piece{from: Source{read.Describe(a.scaler.Object), "spec"}, set: a.toAutoscaling})
	}
	if a.budget != nil {
		budget := a.budget.Read
		list = append(list, piece{from: Source{read.Describe(a.budget.Object), "spec"}, set: func(spec *v1.AppServiceSpec) {
			spec.PodDisruptionBudget = &v1.PodDisruptionBudget{Enabled: ptr.To(true), MinAvailable: budget.Spec.MinAvailable,
				MaxUnavailable: budget.Spec.MaxUnavailable}
		}})
	}
	if a.monitor != nil {
		list = append(list, piece{from: Source{read.Describe(a.monitor), "spec"}, set: a.toMonitoring})
	}
	if a.claim != nil {
		list = append(list, piece{from: Source{read.Describe(a.claim.Object), "spec"}, set: func(spec *v1.AppServiceSpec) {
			spec.Persistence = persistence(&a.claim.Read.Spec, a.mountsOf(dataVolume)[0].MountPath)
			spec.Persistence.Annotations = claimAnnotations(a.claim.Read.Annotations)
		}})
	}
	return list
}
