//go:build cluster

package security

import (
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// Other fields with a meaning for other controllers: labels that they select by, paths, ports, and plain text.
var _ = register(vectors{
	"labels that select the pods of another's Job": {
		does: applies(`podLabels: {batch.kubernetes.io/job-name: trusted}`),
		harm: is("app", func(d *appsv1.Deployment) bool {
			return d.Spec.Template.Labels["batch.kubernetes.io/job-name"] == "trusted"
		}),
		guard: "a rule of the CRD, and a hook on rendered objects", words: []string{"spec.podLabels: key "}, fixed: noReserved,
	},
	"labels that select the pods of another AppService": {
		does: applies(`podLabels: {app.kubernetes.io/instance: trusted}`),
		harm: is("app", func(d *appsv1.Deployment) bool {
			return d.Spec.Template.Labels["app.kubernetes.io/instance"] == "trusted"
		}),
		guard: "a rule of the CRD, and the chart", words: []string{"spec.podLabels: key "},
		fixed: "without the rule the chart sets the label a second time, which no object can have",
	},
	"labels that select the pods of another AppService, by podTemplate": {
		does: applies(`podTemplate: {metadata: {labels: {app.kubernetes.io/instance: trusted}}}`),
		harm: is("app", func(d *appsv1.Deployment) bool {
			return d.Spec.Template.Labels["app.kubernetes.io/instance"] == "trusted"
		}),
		guard: "a rule of the CRD, and the operator", words: []string{"spec.podTemplate.metadata.labels: key "},
		fixed: "without the rule the operator refuses the same labels, since other kinds have no such rule",
	},
	"a node port that another Service holds": {
		prepare: func(s *scene) {
			s.held = s.make(s.victim, &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Name: "holder"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, Ports: []corev1.ServicePort{{Port: 80}}},
			}).(*corev1.Service).Spec.Ports[0].NodePort
		},
		off: func(s *scene) {
			s.deletes(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.victim, Name: "holder"}})
		},
		does: func(s *scene) error {
			return applies(fmt.Sprintf(`{service: {type: NodePort}, ports: [{port: 80, nodePort: %d}]}`, s.held))(s)
		},
		harm: func(s *scene) error {
			return of(s, s.namespace, "app", func(o *corev1.Service) bool { return o.Spec.Ports[0].NodePort == s.held })
		},
		guard: "the API server allocates node ports, before anything else is written", reason: v1.ReasonNodePortConflict, words: []string{"is taken"},
	},
	"an external address by a field that there is not": {
		does:  applies(`{ports: [{port: 80}], service: {externalIPs: [203.0.113.1]}}`),
		seen:  ready,
		harm:  is("app", func(o *corev1.Service) bool { return len(o.Spec.ExternalIPs) > 0 }),
		guard: "the schema has no such field", fixed: "the API server drops what no schema knows, whatever rules it has",
	},
	"annotations by which Helm forces": {
		does: func(s *scene) error {
			app := s.appService(s.namespace, "app", `{}`)
			app.SetAnnotations(map[string]string{
				"helm.sdk.operatorframework.io/upgrade-force": "true", "helm.sdk.operatorframework.io/rollback-force": "true", "helm.sdk.operatorframework.io/uninstall-wait": "true",
			})
			if err := s.tenant.Create(s.Context(), app); err != nil {
				return err
			}
			harness.Eventually(s.T, "the AppService is ready", func() error { return ready(s) })
			return changes(`spec: {image: later}`)(s)
		},
		seen:  pods(func(p *corev1.PodSpec) bool { return p.Containers[0].Image == "later" }),
		harm:  is("app", func(d *appsv1.Deployment) bool { return d.Generation == 1 }), // another Deployment
		guard: "objects are applied, never replaced", fixed: "nothing reads these annotations",
	},
	"an annotation by which Helm runs an object as a hook": {
		does:  applies(`{ports: [{port: 80}], service: {annotations: {helm.sh/hook: pre-install}}}`),
		harm:  is("app", func(o *corev1.Service) bool { return len(o.OwnerReferences) == 0 }),
		guard: "a rule of the CRD, and that the operator runs no hooks", words: []string{"must not have keys that begin with app.example.com/, helm.sh/"},
		fixed: "behind the rule, the operator refuses every object that is a hook, whatever the chart says",
	},
	"a file of the configuration that leaves its folder": {
		does:  applies(`config: {files: {../../etc/passwd: root}}`),
		harm:  is("app-files", func(c *corev1.ConfigMap) bool { return c.Data["../../etc/passwd"] == "root" }),
		guard: "a rule of the CRD, and the API server", words: []string{"must be file names"},
		fixed: "no ConfigMap has such a key: the API server refuses it after the rule",
	},
	"an object in a text": {
		does:  applies(documents),
		seen:  ready,
		harm:  is("stolen", anything[*corev1.ConfigMap]),
		guard: "charts quote every text", fixed: "test/injection shows the same for every text of the API; a chart without quotes is another chart",
	},
	"a template in a text": {
		does: applies(`{args: ["{{ .Release.Namespace }}"], config: {environment: {A: "{{ .Release.Namespace }}"}}}`),
		seen: ready,
		harm: func(s *scene) error {
			return pods(func(p *corev1.PodSpec) bool { return strings.Contains(p.Containers[0].Args[0], s.namespace) })(s)
		},
		guard: "charts evaluate no text", fixed: "test/injection shows the same for every text of the API; a chart that evaluates is another chart",
	},
	"a status of his own": {
		does: func(s *scene) error {
			s.begins(`{}`)
			app := s.app()
			err := s.tenant.Status().Patch(s.Context(), app, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Trusted"}}`)))
			s.stored = app.Status.Phase
			return err
		},
		off: func(s *scene) {
			s.tenant = newUser(s.T, s.namespace, "operator-of-"+s.namespace, []rbacv1.PolicyRule{{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appservices/status"}, Verbs: []string{"patch"}}})
		},
		harm: func(s *scene) error {
			if s.stored != "Trusted" { // the operator writes its own again, and nothing of the tenant's is left to look for
				return errors.New("the API server has stored no status of the tenant")
			}
			return nil
		},
		guard: "the roles for tenants lack appservices/status", words: []string{"appservices/status"},
	},
})

// documents has a whole object in each of several texts.
const documents = `{
args: ["a\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen}\n"],
podAnnotations: {note: "a\"\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen}\n"},
config: {environment: {A: "a'\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen}\n"}, files: {a: "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: stolen}\n"}}}`
