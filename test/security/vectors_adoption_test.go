//go:build cluster

package security

import (
	"slices"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// updatesAll are the rights of a tenant who may update each kind that is adopted, but delete no Secret.
var updatesAll = []rbacv1.PolicyRule{{
	APIGroups: []string{"", "apps", "autoscaling", "batch", "networking.k8s.io", "policy"}, Verbs: []string{"get", "update", "delete"},
	Resources: []string{"configmaps", "persistentvolumeclaims", "serviceaccounts", "services", "deployments", "statefulsets", "horizontalpodautoscalers", "cronjobs", "ingresses", "poddisruptionbudgets"},
}}

// Adopted objects are written with the rights of the operator, and deleted with the AppService.
var _ = register(vectors{
	"another's Deployment is adopted": {
		prepare: trusted, does: adopts(nil), harm: pods(mine),
		guard: "the admission policy for adoption", words: []string{"update and delete configmaps"},
	},
	"another's Deployment is adopted, to be deleted, by whoever may only update it": {
		may:     []rbacv1.PolicyRule{{APIGroups: updatesAll[0].APIGroups, Resources: updatesAll[0].Resources, Verbs: []string{"get", "update"}}},
		prepare: trusted, does: adopts(nil), harm: pods(mine),
		guard: "the admission policy for adoption", words: []string{"requires the right to update and delete"},
	},
	"another's Deployment is adopted by an annotation that is added": {
		prepare: func(s *scene) {
			trusted(s)
			s.applied(`image: mine`)
		},
		does: func(s *scene) error {
			app := s.app()
			return s.tenant.Patch(s.Context(), app, client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"annotations":{"`+v1.AnnotationAdopt+`":"true","`+v1.AnnotationAdoptRestart+`":"true"}}}`)))
		},
		harm:  pods(mine),
		guard: "the admission policy for adoption", words: []string{"You do not have that right"},
	},
	"the spec of one who may adopt is changed to adopt more": {
		prepare: func(s *scene) {
			s.make(s.namespace, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "app-config"}, Data: map[string]string{"A": "trusted"}})
			app := s.appService(s.namespace, "app", `{}`)
			app.SetAnnotations(map[string]string{v1.AnnotationAdopt: "true"})
			require.NoError(s, cluster.Client.Create(s.Context(), app))
		},
		does:  changes(`spec: {config: {environment: {A: mine}}}`),
		harm:  is("app-config", func(c *corev1.ConfigMap) bool { return c.Data["A"] == "mine" }),
		guard: "the admission policy for adoption", words: []string{"You do not have that right"},
	},
	"the records of another's Helm release are deleted by adoption": {
		may: updatesAll,
		prepare: func(s *scene) {
			trusted(s)
			record := forged(s.app(), 1, nil)
			record.Name, record.OwnerReferences = "sh.helm.release.v1.precious.v1", nil
			record.Labels = map[string]string{"owner": "helm", "name": "precious", "status": "deployed", "version": "1"}
			s.make(s.namespace, record)
		},
		does: adopts(map[string]string{v1.AnnotationAdoptRelease: "precious"}), harm: pods(mine),
		guard: "the admission policy for adoption", words: []string{"records of Helm release precious", "requires the right to delete secrets"},
	},
})

// trusted creates a Deployment of the name app that belongs to another user.
func trusted(s *scene) {
	s.make(s.namespace, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "app"}, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: selects}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selects}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "trusted"}}},
		},
	}})
}

// mine reports whether pods run what the tenant wants.
func mine(pods *corev1.PodSpec) bool {
	return slices.ContainsFunc(pods.Containers, func(c corev1.Container) bool { return c.Image == "mine" })
}

// adopts creates AppService app, which asks to adopt the objects of its names, even if that restarts pods.
func adopts(more map[string]string) func(*scene) error {
	return func(s *scene) error {
		app := s.appService(s.namespace, "app", `image: mine`)
		annotations := map[string]string{v1.AnnotationAdopt: "true", v1.AnnotationAdoptRestart: "true"}
		for key, value := range more {
			annotations[key] = value
		}
		app.SetAnnotations(annotations)
		return s.tenant.Create(s.Context(), app)
	}
}
