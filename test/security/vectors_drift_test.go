//go:build cluster

package security

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// writesConfigMaps are the rights of a tenant who may write ConfigMaps.
var writesConfigMaps = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}}}

// Objects that claim to be the operator's: with its label, its stamp or a reference to an AppService.
var _ = register(vectors{
	"a rendered ConfigMap gets other content under its stamp": edits(`config: {environment: {A: right}}`, writesConfigMaps, configMap("app-config", "A")),
	"a large ConfigMap gets other content under its stamp":    edits(`config: {files: {A: "`+strings.Repeat("right", 6<<10)+`"}}`, writesConfigMaps, configMap("app-files", "A")),
	"a rendered Secret gets other content under its stamp":    edits(`config: {databaseUrl: right}`, writesSecrets, rendersSecret),
	"somebody's ConfigMap is labeled as one that is rendered": labeled(),
	"somebody's ConfigMap carries the stamp of one that is rendered": {
		may:  writesConfigMaps,
		does: stamped,
		harm: func(s *scene) error { // pods run with it
			return errors.Join(is("app", anything[*appsv1.Deployment])(s), is("app-config", func(c *corev1.ConfigMap) bool { return c.Data["A"] == "wrong" })(s))
		},
		guard:  "a stamp is that of one AppService: what bears an earlier one's is taken back only if the AppService asks for it",
		reason: v1.ReasonResourceExists, words: []string{`ConfigMap "app-config" exists and is left by an earlier resource of this name`},
	},
	"a ConfigMap names the AppService of another namespace as its controller": {
		may:     writesConfigMaps,
		prepare: func(s *scene) { s.ofVictim() },
		does: func(s *scene) error {
			namespace := s.namespace
			if s.off { // the namespace is the guard
				namespace = s.victim
			}
			return s.leavesOver(namespace)
		},
		harm: func(s *scene) error { // the garbage collector deletes it in any case
			namespace := map[bool]string{true: s.victim, false: s.namespace}[s.off]
			return asked("delete /api/v1/namespaces/" + namespace + "/configmaps/left")
		},
		guard: "only what is in the namespace of an AppService is its own",
		seen: func(s *scene) error { // later events have overtaken it
			return s.repaired(s.victim)
		},
	},
})

// edit changes a rendered object by a tenant's client, and says what it is then.
type edit struct {
	object func() client.Object
	patch  string // in which NAMESPACE and VICTIM stand for those of the scene
	wrong  func(client.Object) bool
}

func configMap(name, key string) edit {
	return edit{
		object: func() client.Object { return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}} },
		patch:  fmt.Sprintf(`{"data":{%q:"wrong"}}`, key),
		wrong:  func(o client.Object) bool { return o.(*corev1.ConfigMap).Data[key] == "wrong" },
	}
}

var rendersSecret = edit{
	object: func() client.Object { return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app-config"}} },
	patch:  `{"stringData":{"DATABASE_URL":"wrong"}}`,
	wrong:  func(o client.Object) bool { return string(o.(*corev1.Secret).Data["DATABASE_URL"]) == "wrong" },
}

// edits is a vector that changes a rendered object and keeps its stamp. The change stays only while the AppService is paused.
func edits(spec string, may []rbacv1.PolicyRule, e edit) vector {
	look := func(s *scene) (client.Object, error) {
		object := e.object()
		object.SetNamespace(s.namespace)
		return object, cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object)
	}
	return vector{
		may: may,
		does: func(s *scene) error {
			s.begins(spec)
			if s.off {
				if err := changes(`spec: {paused: true}`)(s); err != nil {
					return err
				}
				cluster.Condition(s.T, s.app(), v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
			}
			object := e.object()
			object.SetNamespace(s.namespace)
			return s.tenant.Patch(s.Context(), object, client.RawPatch(types.MergePatchType, []byte(s.words(e.patch))))
		},
		seen: func(s *scene) error {
			object, err := look(s)
			if err == nil && e.wrong(object) {
				err = errors.New("it is still wrong")
			}
			return err
		},
		harm: func(s *scene) error {
			object, err := look(s)
			if err == nil && !e.wrong(object) {
				err = errors.New("it was put right")
			}
			return err
		},
		guard: "drift is seen by content, whatever the stamp says",
	}
}

// labeled is a vector that tries to have the operator delete an object of another user. It deletes only what its AppService controls.
func labeled() vector {
	return vector{
		may:     []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"patch"}}},
		prepare: func(s *scene) { s.make(s.namespace, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "left"}}) },
		does: func(s *scene) error {
			s.begins(`{}`)
			app, left := s.app(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "left"}}
			if err := s.tenant.Get(s.Context(), client.ObjectKeyFromObject(app), app); err != nil {
				return err
			}
			if s.off {
				s.handOver(left)
				return nil
			}
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:"true",%q:%q},"annotations":{%q:"x",%q:"app","meta.helm.sh/release-name":"app","meta.helm.sh/release-namespace":%q}}}`,
				v1.LabelManaged, v1.LabelOwner, app.UID, v1.AnnotationStamp, v1.AnnotationRetainedFor, s.namespace)
			if err := s.tenant.Patch(s.Context(), left, client.RawPatch(types.MergePatchType, patch)); err != nil {
				return err
			}
			return changes(`spec: {image: later}`)(s)
		},
		seen:  func(s *scene) error { return s.repaired(s.namespace) },
		harm:  func(s *scene) error { return gone(of(s, s.namespace, "left", anything[*corev1.ConfigMap])) },
		guard: "what has no controller is nobody's, whatever labels and annotations say",
	}
}

// stamped has the tenant copy the stamp of a rendered object, delete the AppService, and create an object with that stamp before the next
// AppService, as if it had been rendered.
func stamped(s *scene) error {
	spec := `config: {environment: {A: right}}`
	s.begins(spec)
	rendered := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "app-config"}}
	if err := s.tenant.Get(s.Context(), client.ObjectKeyFromObject(rendered), rendered); err != nil {
		return err
	}
	if s.off { // the operator does not repair
		if err := changes(`spec: {paused: true}`)(s); err != nil {
			return err
		}
		cluster.Condition(s.T, s.app(), v1.ConditionReady, metav1.ConditionUnknown, v1.ReasonPaused)
		return s.tenant.Patch(s.Context(), rendered, client.RawPatch(types.MergePatchType, []byte(`{"data":{"A":"wrong"}}`)))
	}
	s.deletes(s.app())
	mine := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "app-config", Labels: rendered.Labels, Annotations: rendered.Annotations},
		Data:       map[string]string{"A": "wrong"},
	}
	if err := s.tenant.Create(s.Context(), mine); err != nil {
		return err
	}
	return applies(spec)(s)
}

// ofVictim makes the AppService of another tenant.
func (s *scene) ofVictim() {
	s.Helper()
	require.NoError(s, cluster.Client.Create(s.Context(), s.appService(s.victim, "app", `config: {environment: {A: right}}`)))
	cluster.Ready(s.T, &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: s.victim, Name: "app"}})
}

// leavesOver creates a ConfigMap whose controller reference names the AppService of another tenant.
func (s *scene) leavesOver(namespace string) error {
	victim := &v1.AppService{}
	if err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.victim, Name: "app"}, victim); err != nil {
		return err
	}
	left := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: "left", Labels: map[string]string{v1.LabelManaged: "true"},
		OwnerReferences: []metav1.OwnerReference{controlledBy(victim)},
	}}
	if s.off {
		return cluster.Client.Create(s.Context(), left)
	}
	return s.tenant.Create(s.Context(), left)
}

// repaired returns nil when the Deployment of AppService app was created again: by then, all earlier events have been processed.
func (s *scene) repaired(namespace string) error { return s.madeAgain(namespace, &appsv1.Deployment{}) }

// madeAgain deletes the object of a kind that AppService app renders, once, and returns nil when it was created again.
func (s *scene) madeAgain(namespace string, object client.Object) error {
	if err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: namespace, Name: "app"}, object); err != nil {
		return err
	}
	if s.deleted == "" {
		s.deleted = object.GetUID()
		return cluster.Client.Delete(s.Context(), object)
	}
	if object.GetUID() == s.deleted || object.GetDeletionTimestamp() != nil {
		return fmt.Errorf("the %T is still the one that was deleted", object)
	}
	return nil
}

// asked returns nil if the operator has made a request.
func asked(request string) error {
	for _, made := range everybodys.Requests.Since(0) {
		if made.String() == request {
			return nil
		}
	}
	return errors.New("the operator did not ask for it")
}

// controlledBy is a reference to a controller that any user may write: one that blocks deletion would need a right.
func controlledBy(app *v1.AppService) metav1.OwnerReference {
	reference := *metav1.NewControllerRef(app, v1.GroupVersion.WithKind(v1.Kind))
	reference.BlockOwnerDeletion = nil
	return reference
}

// gone returns nil if an error says that an object does not exist.
func gone(err error) error {
	if err == nil {
		return errors.New("it is there")
	}
	return client.IgnoreNotFound(err)
}
