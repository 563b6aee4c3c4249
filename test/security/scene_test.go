//go:build cluster

package security

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/pod-security-admission/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// guardsOff is the label, with value off, of a namespace in which guards are off.
const guardsOff = "security"

// scene is where a tenant tries something: a namespace of his own and one of another tenant.
type scene struct {
	*testing.T
	namespace, victim string
	// tenant is the client of the tenant.
	tenant client.Client
	off    bool
	// deleted is the object that a vector deleted to have it repaired; empty for none.
	deleted types.UID
	// held is a node port of another tenant.
	held int32
	// remembered is a value that a vector wants to know, or to change.
	remembered string
	// stored is the phase that the API server answered to a status of the tenant; empty if it refused.
	stored v1.Phase
}

// The prefixes of the names of a scene's namespaces.
const (
	guardsOnIn  = "on-"
	guardsOffIn = "off-"
	// openIn is for namespaces in which the policy is the built-in one called open, and all other guards are on.
	openIn = "open-"
)

// newScene creates the namespaces, the tenant and the objects that the vector prepares.
func newScene(t *testing.T, v vector, begins string) *scene {
	t.Helper()
	off, labels := begins == guardsOffIn, map[string]string{}
	if v.label != "" {
		labels[v.label] = "closed"
	}
	switch {
	case off:
		labels[guardsOff], labels[api.EnforceLevelLabel] = "off", string(api.LevelPrivileged)
	case v.level != "":
		labels[api.EnforceLevelLabel] = v.level
	}
	s := &scene{T: t, off: off, namespace: newNamespace(t, begins+"tenant-", labels), victim: newNamespace(t, begins+"victim-", nil)}
	s.tenant = newTenant(t, s.namespace, v.may)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		_ = cluster.Client.DeleteAllOf(ctx, &v1.AppService{}, client.InNamespace(s.namespace))
		_ = cluster.Client.DeleteAllOf(ctx, &v1.AppService{}, client.InNamespace(s.victim))
	})
	if v.prepare != nil {
		v.prepare(s)
	}
	return s
}

func newNamespace(t *testing.T, begins string, labels map[string]string) string {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: begins, Labels: labels}}
	cluster.Create(t, namespace)
	return namespace.Name
}

// newTenant creates a user who may write AppServices in a namespace, and has further rules, and waits until these are in effect.
func newTenant(t *testing.T, namespace string, more []rbacv1.PolicyRule) client.Client {
	t.Helper()
	return newUser(t, namespace, "tenant-of-"+namespace, more)
}

// newUser creates a tenant with a name.
func newUser(t *testing.T, namespace, name string, more []rbacv1.PolicyRule) client.Client {
	t.Helper()
	all := rbacv1.PolicyRule{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appservices", "appservices/scale"}, Verbs: []string{"*"}}
	return newUserWith(t, namespace, name, append([]rbacv1.PolicyRule{all}, more...))
}

// newUserWith creates a user with a name and the rights of these rules only, who may list AppServices.
func newUserWith(t *testing.T, namespace, name string, rules []rbacv1.PolicyRule) client.Client {
	t.Helper()
	at := metav1.ObjectMeta{Namespace: namespace, Name: name}
	cluster.Create(t, &rbacv1.Role{ObjectMeta: at, Rules: rules})
	cluster.Create(t, &rbacv1.RoleBinding{
		ObjectMeta: at, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
	})
	tenant := as(t, name)
	harness.Eventually(t, "the tenant has his rights", func() error {
		return tenant.List(t.Context(), &v1.AppServiceList{}, client.InNamespace(namespace))
	})
	return tenant
}

// as is the client of a user of further groups.
func as(t require.TestingT, user string, groups ...string) client.Client {
	config := rest.CopyConfig(cluster.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: append(groups, "system:authenticated")}
	made, err := client.New(config, client.Options{Scheme: cluster.Client.Scheme(), Mapper: cluster.Client.RESTMapper()})
	require.NoError(t, err)
	return made
}

// job returns AppJob app with a spec in YAML.
func (s *scene) job(spec string) *unstructured.Unstructured {
	s.Helper()
	job := s.appService(s.namespace, "app", spec)
	job.SetKind("AppJob")
	delete(job.Object["spec"].(map[string]any), "size")
	return job
}

// refusal waits until the operator refuses a vector, and returns its message.
func (s *scene) refusal(v vector) string {
	s.Helper()
	if !v.job {
		return cluster.Condition(s.T, s.app(), v1.ConditionReady, metav1.ConditionFalse, v.reason).Message
	}
	message := ""
	harness.Eventually(s.T, "AppJob app is refused", func() error {
		job, stored := s.job("{}"), &v1.AppService{} // their statuses are alike
		if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(job), job); err != nil {
			return err
		}
		delete(job.Object, "spec")
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(job.Object, stored); err != nil {
			return err
		}
		ready := meta.FindStatusCondition(stored.Status.Conditions, v1.ConditionReady)
		if ready == nil || ready.Reason != v.reason {
			return fmt.Errorf("Ready is %v", ready)
		}
		message = ready.Message
		return nil
	})
	return message
}

// words replaces placeholders for names of the scene: NAMESPACE and VICTIM.
func (s *scene) words(text string) string {
	return strings.NewReplacer("NAMESPACE", s.namespace, "VICTIM", s.victim).Replace(text)
}

// app is the AppService that most vectors are about.
func (s *scene) app() *v1.AppService {
	return &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "app"}}
}

// live is AppService app as it is stored.
func (s *scene) live() *v1.AppService {
	s.Helper()
	app := s.app()
	require.NoError(s, cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(app), app))
	return app
}

// standing is the present condition Ready of the AppService, as text.
func (s *scene) standing() string {
	app := s.app()
	if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(app), app); err != nil {
		return err.Error()
	}
	if ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady); ready != nil {
		return fmt.Sprintf("Ready is %s %s: %s", ready.Status, ready.Reason, ready.Message)
	}
	return "nothing was said of it yet"
}

// appService returns an AppService with a spec in YAML, without pods unless the spec says how many.
func (s *scene) appService(namespace, name, spec string) *unstructured.Unstructured {
	s.Helper()
	fields := map[string]any{}
	if err := yaml.UnmarshalStrict([]byte(s.words(spec)), &fields); err != nil {
		s.Fatalf("cannot parse %s: %v", spec, err)
	}
	for field, value := range map[string]any{"size": int64(0), "image": "nginx:1.7.9"} {
		if _, there := fields[field]; !there {
			fields[field] = value
		}
	}
	app := &unstructured.Unstructured{Object: map[string]any{"spec": fields}}
	app.SetGroupVersionKind(v1.GroupVersion.WithKind(v1.Kind))
	app.SetNamespace(namespace)
	app.SetName(name)
	return app
}

// applies has the tenant create AppService app with a spec in YAML, in which NAMESPACE and VICTIM stand for those of the scene.
func applies(spec string) func(*scene) error {
	return func(s *scene) error { return s.tenant.Create(s.Context(), s.appService(s.namespace, "app", spec)) }
}

// begins has the tenant create AppService app, which nobody minds, and waits until it is ready.
func (s *scene) begins(spec string) {
	s.Helper()
	require.NoError(s, applies(spec)(s))
	harness.Eventually(s.T, "the AppService is ready", func() error { return ready(s) })
}

// changes has the tenant apply a merge patch in YAML to AppService app.
func changes(patch string) func(*scene) error {
	return func(s *scene) error {
		text, err := yaml.YAMLToJSONStrict([]byte(s.words(patch)))
		if err != nil {
			return err
		}
		return s.tenant.Patch(s.Context(), s.app(), client.RawPatch("application/merge-patch+json", text))
	}
}

// exists has an administrator create an object.
func exists(object client.Object) func(*scene) {
	return func(s *scene) { s.make(s.namespace, object) }
}

// make creates a copy of an object in a namespace.
func (s *scene) make(namespace string, object client.Object) client.Object {
	s.Helper()
	copied := object.DeepCopyObject().(client.Object)
	copied.SetNamespace(namespace)
	if err := cluster.Client.Create(s.Context(), copied); err != nil && !apierrors.IsAlreadyExists(err) {
		s.Fatalf("cannot make %s: %v", copied.GetName(), err)
	}
	return copied
}
