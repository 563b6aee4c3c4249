//go:build cluster

package security

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Input that is short to write and expensive to process: patterns, numbers, aliases, expressions.
var _ = register(vectors{
	"patterns of a hundred thousand instructions": {
		does: func(s *scene) error {
			err := applies(fmt.Sprintf(`{ports: [{port: 80}], ingress: {hosts: [{host: NAMESPACE.example.com, paths: [%s]}]}}`,
				list(30, `{path: "/%d`+strings.Repeat("x{1000}", 140)+`", pathType: ImplementationSpecific}`)))(s)
			if err == nil {
				s.make(s.victim, s.appService(s.victim, "app", `{ports: [{port: 80}], ingress: {hosts: [{host: VICTIM.example.com}]}}`))
			}
			return err
		},
		guard: "a path has 1,024 letters, and patterns are parsed but never compiled", fixed: "compiled, each of them takes 38 MB and 50 ms whenever claims are compared",
		seen: func(s *scene) error { return has(s, s.victim) }, // the tenant's is against the policy
		harm: func(s *scene) error { // others are not served
			if has(s, s.victim) == nil {
				return errServed
			}
			return nil
		},
	},
	"a schedule without an end": {
		may: []rbacv1.PolicyRule{{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appjobs"}, Verbs: []string{"*"}}},
		does: func(s *scene) error {
			return s.tenant.Create(s.Context(), s.job(`schedule: "`+strings.Repeat("0,", 20<<10)+`0 0 * * *"`))
		},
		harm:  is("app", anything[*batchv1.CronJob]),
		guard: "a rule of the CRD of AppJobs and, behind it, the bound of resources", fixed: "nothing of the operator reads schedules",
		words: []string{"spec.schedule", "256"},
	},
	"a quantity of a billion digits": {
		does: applies(`resources: {requests: {cpu: "1e999999999"}, limits: {cpu: "1"}}`), harm: pods(anyPod),
		guard: "the pattern of the CRD, before its rules compare quantities", fixed: vastly, words: []string{"spec.resources.requests.cpu", "should match"},
	},
	"a quantity of a billion digits by podTemplate": {
		does: applies(`podTemplate: {spec: {volumes: [{name: a, emptyDir: {sizeLimit: "1e-999999999"}}]}}`), harm: pods(anyPod),
		guard: "quantities are looked at before they are decoded", fixed: vastly, reason: v1.ReasonInvalidSpec,
		words: []string{"spec.podTemplate.spec.volumes[0].emptyDir.sizeLimit: not a quantity", "more than two digits"},
	},
	"aliases that make gigabytes of a ConfigMap": {
		may: writesConfigMaps,
		does: func(s *scene) error {
			defaults := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "appservice-defaults"}, Data: map[string]string{
				"appservice.yaml": "tolerations: [&a " + strings.Repeat("x", 30<<10) + strings.Repeat(", *a", 8<<10) + "]",
			}}
			return errors.Join(s.tenant.Create(s.Context(), defaults), applies(`{}`)(s))
		},
		harm:  is("app", func(d *appsv1.Deployment) bool { return len(d.Spec.Template.Spec.Tolerations) > 0 }),
		guard: "the bound of what aliases repeat", fixed: "read, they took 1.4 GB, three times the manager's limit", reason: v1.ReasonDefaultsInvalid,
		words: []string{"its aliases (as *name) expanded", "65536 bytes"},
	},
	"a status of a megabyte, and an expression that compares all of it": {
		may: []rbacv1.PolicyRule{{APIGroups: []string{appsv1.GroupName}, Resources: []string{"deployments", "deployments/status"}, Verbs: []string{"get", "patch"}}},
		does: func(s *scene) error {
			if err := applies(`{}`)(s); err != nil {
				return err
			}
			return s.compares(1 << 20)
		},
		guard: "expressions have a length and a cost, and messages are cut", fixed: "these bounds are part of the program: without them, one look takes seconds",
		seen: says("too expensive"), harm: overlongStatus,
	},
	"an expression that compares each condition with all others": {
		may: []rbacv1.PolicyRule{{APIGroups: []string{appsv1.GroupName}, Resources: []string{"deployments", "deployments/status"}, Verbs: []string{"get", "patch"}}},
		does: func(s *scene) error {
			if err := applies(`{}`)(s); err != nil {
				return err
			}
			return s.compares(40 << 10)
		},
		guard: "what an expression may cost", fixed: "the limit is part of the program: without it, one evaluation takes seconds",
		seen: says("too expensive"), harm: overlongStatus,
	},
})

const vastly = "compared or parsed, it takes minutes and gigabytes: nobody may see it succeed"

var errServed = errors.New("others are served")

// compares has the tenant add so many bytes of conditions to the Deployment, and an expression that compares each with all others.
func (s *scene) compares(bytes int) error {
	const size = 2 << 10
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "app"}}
	cluster.Ready(s.T, s.app())
	var conditions []string
	for i := range bytes / size {
		conditions = append(conditions, fmt.Sprintf(`{"type":"C%d","status":"True","reason":"A","message":%q}`, i, strings.Repeat("x", size)))
	}
	status := client.RawPatch(types.StrategicMergePatchType, []byte(`{"status":{"conditions":[`+strings.Join(conditions, ",")+`]}}`))
	if err := s.tenant.Status().Patch(s.Context(), deployment, status); err != nil {
		return err
	}
	const all = "self.status.conditions"
	annotations, err := json.Marshal(map[string]string{
		v1.AnnotationReadyWhen:    all + ".all(a, " + all + ".all(b, " + all + ".all(c, a.message + b.message + c.message != '')))",
		v1.AnnotationReadyMessage: all + "[0].message",
	})
	if err != nil {
		return err
	}
	return s.tenant.Patch(s.Context(), deployment, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":`+string(annotations)+`}}`)))
}

// overlongStatus returns nil if the status of AppService app is longer than the spec may be.
func overlongStatus(s *scene) error {
	text, err := json.Marshal(s.live().Status)
	if err == nil && len(text) < 16<<10 {
		err = fmt.Errorf("the status has %d bytes", len(text))
	}
	return err
}
