package integration

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var resourceZero = resource.MustParse("0")

func resources(request, limit string) *corev1.ResourceRequirements {
	return &corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(request)},
		Limits:   corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)},
	}
}

func values(envs []corev1.EnvVar) map[string]string {
	out := map[string]string{}
	for _, env := range envs {
		out[env.Name] = env.Value
	}
	return out
}

func length(list client.ObjectList) int { return meta.LenList(list) }
