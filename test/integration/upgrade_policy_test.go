//go:build cluster

package integration

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// formerlyAllowed is an AppService with what earlier versions of the policy allowed.
func formerlyAllowed(namespace, name string) *v1.AppService {
	app := harness.Seed(namespace, name)
	app.Spec.Ports[0].NodePort = nil
	app.Spec.PodAnnotations = map[string]v1.Annotation{"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
		"vault.hashicorp.com/agent-extra-secret": "payments-db"}
	app.Spec.PodLabels = map[string]v1.Label{"istio.io/rev": "canary"}
	app.Spec.Ingress = &v1.Ingress{
		Annotations: map[string]v1.Annotation{"traefik.ingress.kubernetes.io/router.middlewares": "shop-add-token@kubernetescrd"},
		Hosts: []v1.IngressHost{{Host: name + "." + namespace + ".example.com", Paths: []v1.IngressPath{
			{Path: "/x`)||Host(`shop.example.org", PathType: networkingv1.PathTypePrefix}}}},
	}
	app.Spec.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("10m")}}
	app.Spec.Autoscaling = &v1.Autoscaling{MinReplicas: ptr.To[int32](2), MaxReplicas: 100, TargetCPUUtilizationPercentage: ptr.To[int32](80)}
	app.Spec.PodDisruptionBudget = &v1.PodDisruptionBudget{MinAvailable: ptr.To(intstr.FromInt32(99))}
	return app
}

// ofFormerlyAllowed are words of the Warnings that it has, one for each.
var ofFormerlyAllowed = []string{"safe-to-evict", "agent-extra-secret", "istio.io/rev", "router.middlewares", "spec.rules[0].http.paths[0]", "spec.minAvailable 99"}

// warnedOf waits until an AppService is Ready, with a Warning for each key that others may no longer have.
func warnedOf(t *testing.T, app *v1.AppService) {
	t.Helper()
	cluster.Ready(t, app)
	var said []v1.Problem
	for _, problem := range app.Status.Problems {
		if problem.Reason == v1.ReasonPolicyViolation {
			assert.Equal(t, v1.ProblemWarning, problem.Type)
			assert.Contains(t, problem.Hint, "- {names: ["+app.Namespace+"], ")
			said = append(said, problem)
		}
	}
	require.Len(t, said, len(ofFormerlyAllowed), "%+v", said)
	for _, words := range ofFormerlyAllowed {
		assert.Condition(t, func() bool {
			for _, problem := range said {
				if strings.Contains(problem.Message, words) {
					return true
				}
			}
			return false
		}, "no Warning has %s: %+v", words, said)
	}
}

// formerlyAllowedGoesOn is what becomes of such an AppService: it continues, also with another image. No other may begin with it.
func formerlyAllowedGoesOn(t *testing.T, namespace string) {
	t.Helper()
	app := formerlyAllowed(namespace, "web")
	warnedOf(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.28" })
	warnedOf(t, app)
	assert.Equal(t, "nginx:1.28", imageOf(t, app))
	other := formerlyAllowed(namespace, "other")
	cluster.Create(t, other)
	refused := cluster.Condition(t, other, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	assert.Contains(t, refused.Message, "blockingBudgets")
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.Ingress.Annotations["traefik.ingress.kubernetes.io/router.middlewares"] = "shop-other@kubernetescrd"
	})
	refused = cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
	assert.NotContains(t, refused.Message, "blockingBudgets", "that is not new")
	assert.Contains(t, refused.Message, "router.middlewares")
}

// Resources with fields that earlier versions of the policy allowed are named before the upgrade, and by the operator; they stay as they are.
func TestTheCheckNamesWhomANewPolicyConcerns(t *testing.T) {
	t.Parallel()
	namespace, file := cluster.Namespace(t), filepath.Join(t.TempDir(), "policy.yaml")
	files.Write(t, file, "builtIn: open\n")
	var options operator.Options
	cluster.Manager(t, namespace, func(o *operator.Options, _ *harness.Requests) { o.Policy = file; options = *o })
	app := formerlyAllowed(namespace, "web")
	app.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}}
	cluster.CreateReady(t, formerlyAllowed(namespace, "old"))
	cluster.CreateReady(t, app)

	options.Policy = ""
	said, err := operator.CheckFiles(options, cluster.Config)
	require.NoError(t, err)
	said = linesAbout(said, namespace)
	require.Len(t, said, 2)
	assert.Contains(t, said[0], "AppService "+namespace+"/old stays allowed, with a warning, and no other may begin with it: ")
	assert.Contains(t, said[0], "- {names: ["+namespace+"], ")
	assert.Contains(t, said[1], "AppService "+namespace+"/web is refused as soon as it changes: ")
	assert.Contains(t, said[1], "tolerations: [+, ")

	files.Write(t, file, "builtIn: shared\n")
	old := formerlyAllowed(namespace, "old")
	require.NoError(t, cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(old), old))
	harness.Eventually(t, "the policy is the one in use", func() error {
		if err := present(t, old); err != nil {
			return err
		}
		return want("policy", old.Status.Policy, "")
	})
	warnedOf(t, old)
	assert.EqualValues(t, 1, old.Status.Release.Revision)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonPolicyViolation)
}

// linesAbout returns the lines about resources of a namespace.
func linesAbout(lines []string, namespace string) (list []string) {
	for _, line := range lines {
		if strings.Contains(line, " "+namespace+"/") {
			list = append(list, line)
		}
	}
	return list
}
