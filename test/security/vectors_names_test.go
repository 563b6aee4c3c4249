//go:build cluster

package security

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// An AppService with the name of a foreign object. An object with a controller reference to another owner is never overwritten.
var _ = register(vectors{
	"the name of another's Service": takesOver(
		&corev1.Service{Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}, `ports: [{port: 80}]`, `Service "app" exists`,
		is("app", func(s *corev1.Service) bool { return s.Spec.Selector["app.kubernetes.io/instance"] == "app" })),
	"the name of another's Deployment": takesOver(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: selects}, Template: corev1.PodTemplateSpec{
			ObjectMeta: metav1.ObjectMeta{Labels: selects}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "trusted"}}},
		},
	}}, `image: mine`, `Deployment "app" exists`, pods(func(p *corev1.PodSpec) bool { return p.Containers[0].Image == "mine" })),
	"the name of another's ConfigMap": takesOver(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "app-config"}, Data: map[string]string{"A": "trusted"}}, `config: {environment: {A: mine}}`, `ConfigMap "app-config" exists`,
		is("app-config", func(c *corev1.ConfigMap) bool { return c.Data["A"] == "mine" })),
	"the name of another's Secret": takesOver(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app-config"}, Data: map[string][]byte{"DATABASE_URL": []byte("trusted")}}, `config: {databaseUrl: mine}`,
		`Secret "app-config" exists`, is("app-config", func(s *corev1.Secret) bool { return string(s.Data["DATABASE_URL"]) == "mine" })),
	"the name of another's ServiceAccount": with(takesOver(
		&corev1.ServiceAccount{}, `serviceAccount: {create: true, automountToken: true}`, `ServiceAccount "app" exists`,
		is("app", func(a *corev1.ServiceAccount) bool { return a.Labels["app.kubernetes.io/instance"] == "app" })), makesAccounts),

	"the data of a database that was uninstalled": takesOver(claim("data-app-0", nil, nil),
		`persistence: {perReplica: true, size: 1Mi, mountPath: /data, retain: false}`,
		`PersistentVolumeClaim "data-app-0" exists and is not its own`, is("app", anything[*appsv1.StatefulSet])),
	"the data of a replica that may come later": takesOver(claim("data-app-7", nil, nil),
		`persistence: {perReplica: true, size: 1Mi, mountPath: /data}`,
		`PersistentVolumeClaim "data-app-7" exists and is not its own`, is("app", anything[*appsv1.StatefulSet])),
	"the data of an AppService that was deleted": takesOver(
		claim("app", map[string]string{v1.LabelManaged: "true", v1.LabelOwner: "an-earlier-one"}, map[string]string{v1.AnnotationRetainedFor: "app"}),
		`persistence: {size: 1Mi, mountPath: /data, retain: false}`,
		`PersistentVolumeClaim "app" exists and is not its own`, pods(mountsData)),
	"the data of an AppService that was deleted before claims were marked by UID": takesOver(
		claim("app", map[string]string{v1.LabelManaged: "true"}, map[string]string{v1.AnnotationRetainedFor: "app"}),
		`persistence: {size: 1Mi, mountPath: /data, retain: false}`,
		`PersistentVolumeClaim "app" exists and is not its own`, pods(mountsData)),
	"the data of each replica of an AppService that was deleted": takesOver(
		claim("data-app-0", map[string]string{v1.LabelManaged: "true"}, map[string]string{v1.AnnotationRetainedFor: "app"}),
		`persistence: {perReplica: true, size: 1Mi, mountPath: /data, retain: false}`,
		`PersistentVolumeClaim "data-app-0" exists and is not its own`, is("app", anything[*appsv1.StatefulSet])),
	"the data of another, by the name of a claim": takesOver(claim("app-cache", nil, nil),
		`claims: [{name: cache, size: 1Mi, retain: false, mounts: [{path: /cache}]}]`,
		`PersistentVolumeClaim "app-cache" exists and is not its own`, pods(mounts("app-cache"))),
	"the data of a database that was uninstalled, by the name of its claims": takesOver(claim("pgdata-app-0", nil, nil),
		`statefulSet: {}, claims: [{name: pgdata, perReplica: true, size: 1Mi, retain: false, mounts: [{path: /data}]}]`,
		`PersistentVolumeClaim "pgdata-app-0" exists and is not its own`, is("app", anything[*appsv1.StatefulSet])),
	"the claims of others, after size 0": {
		prepare: func(s *scene) {
			s.begins(`{statefulSet: {}, size: 0, claims: [{name: data-db, perReplica: true, size: 1Mi, retain: false, mounts: [{path: /loot}]}]}`)
			s.make(s.namespace, claim("data-db-app-0", map[string]string{v1.LabelManaged: "true", v1.LabelOwner: "another"}, map[string]string{v1.AnnotationRetainedFor: "db-app"}))
		},
		does:  changes(`spec: {size: 1}`),
		guard: "what was created for another AppService is never mounted", reason: v1.ReasonResourceExists,
		words: []string{`PersistentVolumeClaim "data-db-app-0" exists and is not its own`},
		harm:  is("app", func(set *appsv1.StatefulSet) bool { return *set.Spec.Replicas == 1 }),
		off: func(s *scene) {
			patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, v1.LabelOwner, s.live().UID)
			at := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "data-db-app-0"}}
			require.NoError(s, cluster.Client.Patch(s.Context(), at, client.RawPatch("application/merge-patch+json", patch)))
		},
	},
	"a claim that another AppService would take for that of its replica": ruledOut(`claims: [{name: web-5, size: 1Mi}]`, "must not end with a number unless perReplica",
		pods(mounts("app-web-5"))),
	"a storage class by an annotation of a claim": ruledOut(`claims: [{name: cache, size: 1Mi, annotations: {volume.beta.kubernetes.io/storage-class: ""}}]`, "which select the storage",
		is("app-cache", func(c *corev1.PersistentVolumeClaim) bool {
			_, there := c.Annotations["volume.beta.kubernetes.io/storage-class"]
			return there
		})),

	"the certificate of another, by its name":                            takesCertificate(""),
	"the certificate of another, by its name, to be adopted":             takesAdopted(takesCertificate("")),
	"the certificate of another, by its name, which a variable has, too": takesCertificate("envs: [{name: A, value: app-tls}], "),

	"the name of a headless Service of another AppService": {
		prepare: func(s *scene) {
			s.exists("app", `{size: 0, ports: [{port: 80}], persistence: {perReplica: true, size: 1Mi, mountPath: /data}}`)
		},
		does: func(s *scene) error {
			return s.tenant.Create(s.Context(), s.appService(s.namespace, "app-headless", `{ports: [{port: 1234}]}`))
		},
		seen: func(s *scene) error {
			return s.conditionOf("app-headless", v1.ReasonResourceExists)
		},
		harm: func(s *scene) error {
			return of(s, s.namespace, "app-headless", func(o *corev1.Service) bool { return o.Spec.Ports[0].Port == 1234 })
		},
		guard: "what another AppService controls is never written over",
		off:   func(s *scene) { s.deletes(s.app()) },
	},
	"a Secret of another namespace by its path": {
		prepare: func(s *scene) { s.make(s.victim, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "precious"}}) },
		does:    applies(`envFrom: [{secretRef: {name: ../../VICTIM/secrets/precious}}]`),
		may:     writesSecrets,
		reason:  v1.ReasonDependencyMissing, words: []string{"precious"},
		harm:  func(s *scene) error { return asked(s.words("get /api/v1/namespaces/VICTIM/secrets/precious")) },
		guard: "what the operator asks for has a name that is a single segment of a path",
		fixed: "the reader of the operator checks every name (kube.Named)",
	},
	"a name so long that what it makes is cut off": {
		does: func(s *scene) error {
			return s.tenant.Create(s.Context(), s.appService(s.namespace, longest+"x", `{}`))
		},
		harm:  func(s *scene) error { return of(s, s.namespace, longest, anything[*appsv1.Deployment]) },
		guard: "a rule of the CRD", rule: true, words: []string{"metadata.name must be at most 53 characters"},
	},
})

// takesCertificate is a vector that has cert-manager write over a Secret of someone else; more is the rest of the spec.
func takesCertificate(more string) vector {
	secret := func(s *scene) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app-tls", Namespace: s.namespace}}
	}
	return vector{
		prepare: func(s *scene) { s.make(s.namespace, secret(s)) },
		does:    applies("{" + more + `ports: [{port: 80}], ingress: {clusterIssuer: letsencrypt, hosts: [{host: NAMESPACE.example.com}], tls: [{hosts: [NAMESPACE.example.com]}]}}`),
		harm:    is("app", func(i *networkingv1.Ingress) bool { return i.Spec.TLS[0].SecretName == "app-tls" }),
		reason:  v1.ReasonResourceExists, words: []string{`Secret "app-tls" exists and is no certificate of cert-manager for this name`},
		guard: "a Secret that cert-manager did not make for the name is not given to it",
		off: func(s *scene) {
			patch := []byte(`{"metadata":{"annotations":{"cert-manager.io/certificate-name":"app-tls"}}}`)
			require.NoError(s, cluster.Client.Patch(s.Context(), secret(s), client.RawPatch("application/merge-patch+json", patch)))
		},
	}
}

// takesAdopted is the same vector of a resource that requests adoption.
func takesAdopted(v vector) vector {
	does := v.does
	v.does = func(s *scene) error {
		if err := does(s); err != nil {
			return err
		}
		patch := []byte(`{"metadata":{"annotations":{"` + v1.AnnotationAdopt + `":"true"}}}`)
		return cluster.Client.Patch(s.Context(), s.app(), client.RawPatch("application/merge-patch+json", patch))
	}
	return v
}

// claim is one of someone else.
func claim(name string, labels, annotations map[string]string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels, Annotations: annotations}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}
	return claim
}

// mountsData reports whether pods mount the claim of the name.
func mountsData(p *corev1.PodSpec) bool { return mounts("app")(p) }

// mounts returns a function that reports whether pods mount a claim.
func mounts(claim string) func(*corev1.PodSpec) bool {
	return func(p *corev1.PodSpec) bool {
		return slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool {
			return v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == claim
		})
	}
}

// ruledOut is a vector that a rule of the CRD refuses, with a harm that is not about pods.
func ruledOut(spec, word string, harm func(*scene) error) vector {
	return vector{does: applies(spec), harm: harm, guard: "a rule of the CRD", rule: true, words: []string{word}}
}

// longest is a name of the greatest length.
const longest = "a23456789-123456789-123456789-123456789-123456789-123"

// selects is the selector of the pods of every AppService app, so that its Deployment can replace another one.
var selects = map[string]string{"app.kubernetes.io/name": "appservice", "app.kubernetes.io/instance": "app"}

// takesOver is a vector that tries to get a foreign object of the namespace, of a name that the AppService renders. The guard is
// that its controller is another; it is off once an administrator makes the AppService its controller.
func takesOver(object client.Object, spec, word string, harm func(*scene) error) vector {
	if object.GetName() == "" {
		object.SetName("app")
	}
	return vector{
		prepare: func(s *scene) { s.make(s.namespace, object) },
		does: func(s *scene) error {
			if err := s.tenant.Create(s.Context(), s.appService(s.namespace, "app", "{paused: true, "+spec+"}")); err != nil {
				return err
			}
			if s.off {
				s.handOver(object)
			}
			return changes(`spec: {paused: false}`)(s)
		},
		harm: harm, guard: "what the AppService does not control is never written over",
		reason: v1.ReasonResourceExists, words: []string{word},
	}
}

// handOver makes AppService app the controller of an object.
func (s *scene) handOver(object client.Object) {
	s.Helper()
	app := s.app()
	require.NoError(s, cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(app), app))
	owned := object.DeepCopyObject().(client.Object)
	owned.SetNamespace(s.namespace)
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{
		"ownerReferences": []any{metav1.NewControllerRef(app, v1.GroupVersion.WithKind(v1.Kind))}, "labels": map[string]string{v1.LabelManaged: "true"},
	}})
	require.NoError(s, err)
	require.NoError(s, cluster.Client.Patch(s.Context(), owned, client.RawPatch("application/merge-patch+json", patch)))
}

// exists has an administrator create an AppService in the tenant's namespace, and waits until it is ready.
func (s *scene) exists(name, spec string) {
	s.Helper()
	app := s.appService(s.namespace, name, spec)
	require.NoError(s, cluster.Client.Create(s.Context(), app))
	cluster.Ready(s.T, s.named(name))
}

// conditionOf returns nil once an AppService is not ready for a reason.
func (s *scene) conditionOf(name, reason string) error {
	condition, err := cluster.ConditionNow(s.Context(), s.named(name), v1.ConditionReady)
	if err != nil {
		return err
	}
	if condition.Status != metav1.ConditionFalse || condition.Reason != reason {
		return fmt.Errorf("Ready is %s %s: %s", condition.Status, condition.Reason, condition.Message)
	}
	return nil
}

func (s *scene) named(name string) *v1.AppService {
	return &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
}

// deletes has an administrator delete an object and waits until it is gone.
func (s *scene) deletes(object client.Object) {
	s.Helper()
	require.NoError(s, cluster.Client.Delete(s.Context(), object, client.PropagationPolicy(metav1.DeletePropagationForeground)))
	harness.Eventually(s.T, object.GetName()+" is gone", func() error {
		if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return client.IgnoreNotFound(err)
		}
		return errors.New("it is still there")
	})
}
