package translate

import (
	corev1 "k8s.io/api/core/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

func (a *Application) securityPieces() []piece {
	var list []piece
	if given := a.Template.Spec.SecurityContext; given != nil {
		list = same(func(field string) Source { return a.fromPod("securityContext." + field) }, given,
			func(spec *v1.AppServiceSpec) *corev1.PodSecurityContext { return made(&made(&spec.Security).Pod) })
	}
	if given := a.container().SecurityContext; given != nil {
		list = append(list, same(func(field string) Source { return a.fromMain("securityContext." + field) }, given,
			func(spec *v1.AppServiceSpec) *v1.ContainerSecurity { return made(&made(&spec.Security).Container) })...)
	}
	if a.Object.GetAnnotations()[v1.AnnotationPodSecurity] == "restricted" {
		list = append(list, piece{from: a.fromPod("securityContext"), set: func(spec *v1.AppServiceSpec) {
			made(&spec.Security).Profile = "Restricted"
		}})
	}
	return list
}
