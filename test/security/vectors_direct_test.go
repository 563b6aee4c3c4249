//go:build cluster

package security

import (
	"errors"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// The rights of a tenant who may also write Ingresses and Services himself, as the stock role edit has them.
var (
	writesIngresses = []rbacv1.PolicyRule{{APIGroups: []string{networkingv1.GroupName}, Resources: []string{"ingresses"}, Verbs: []string{"*"}}}
	writesServices  = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"services"}, Verbs: []string{"*"}}}
)

// Objects that a tenant writes directly: beside what his AppService renders, or over it.
var _ = register(vectors{
	"an Ingress for all hosts that looks like the operator's keeps a host from somebody else": {
		may: writesIngresses,
		prepare: func(s *scene) {
			s.exists("app", `{size: 1}`)
			if err := changes(`spec: {paused: true}`)(s); err != nil { // what it does not render would be deleted
				s.Fatal(err)
			}
			cluster.Condition(s.T, s.app(), v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
		},
		does: func(s *scene) error {
			if err := s.tenant.Create(s.Context(), s.forgedIngress()); err != nil {
				return err
			}
			s.make(s.victim, s.appService(s.victim, "app", `{ports: [{port: 80}], ingress: {hosts: [{host: shop.VICTIM.example.com}]}}`))
			return nil
		},
		seen: servedAgain, harm: withoutHost,
		guard: "a route that names no host takes none", fixed: "hosts that a live route does not name are not compared, whatever the policy says",
	},
	"the host of an own Ingress is edited to that of somebody else": func() vector {
		v := edits(`{ports: [{port: 80}], ingress: {hosts: [{host: app.NAMESPACE.example.com}]}}`, writesIngresses, edit{
			object: func() client.Object { return &networkingv1.Ingress{ObjectMeta: metav1.ObjectMeta{Name: "app"}} },
			patch: `{"spec":{"rules":[{"host":"shop.VICTIM.example.com","http":{"paths":[
				{"path":"/","pathType":"Prefix","backend":{"service":{"name":"app","port":{"number":80}}}}]}}]}}`,
			wrong: func(o client.Object) bool { return o.(*networkingv1.Ingress).Spec.Rules[0].Host[:5] == "shop." },
		})
		v.prepare = func(s *scene) { s.serves(`{host: shop.VICTIM.example.com}`) }
		return v
	}(),
	"the type of an own Service is edited to one with node ports": edits(`ports: [{port: 80}]`, writesServices, edit{
		object: func() client.Object { return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "app"}} },
		patch:  `{"spec":{"type":"NodePort"}}`,
		wrong:  func(o client.Object) bool { return o.(*corev1.Service).Spec.Type == corev1.ServiceTypeNodePort },
	}),
	"the selector of an own Service is edited to other pods": edits(`ports: [{port: 80}]`, writesServices, edit{
		object: func() client.Object { return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "app"}} },
		patch:  `{"spec":{"selector":{"app.kubernetes.io/name":null,"app.kubernetes.io/instance":"other"}}}`,
		wrong: func(o client.Object) bool {
			return o.(*corev1.Service).Spec.Selector["app.kubernetes.io/instance"] == "other"
		},
	}),
})

// forgedIngress is one for all hosts, with all labels, annotations and the controller of the operator's own.
func (s *scene) forgedIngress() *networkingv1.Ingress {
	app, forged := s.live(), s.plainIngress(s.namespace, "")
	forged.Labels = map[string]string{v1.LabelManaged: "true", v1.LabelOwner: string(app.UID), "app.kubernetes.io/instance": app.Name}
	forged.Annotations = map[string]string{
		v1.AnnotationStamp: "x", "meta.helm.sh/release-name": app.Name, "meta.helm.sh/release-namespace": s.namespace,
	}
	forged.OwnerReferences = []metav1.OwnerReference{controlledBy(app)}
	return forged
}

// servedAgain returns nil when the Ingress of the other tenant was created again: by then, all earlier Ingresses have been seen.
func servedAgain(s *scene) error { return s.madeAgain(s.victim, &networkingv1.Ingress{}) }

// withoutHost returns nil once the other tenant's AppService waits for its host.
func withoutHost(s *scene) error {
	other := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: s.victim, Name: "app"}}
	condition, err := cluster.ConditionNow(s.Context(), other, v1.ConditionReady)
	if err != nil {
		return err
	}
	if condition.Reason != v1.ReasonHostConflict {
		return errors.New("Ready is " + string(condition.Status) + " " + condition.Reason + ": " + condition.Message)
	}
	return gone(has(s, s.victim))
}
