//go:build cluster

package security

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// A tenant refers to objects that he may not use himself. The policies of config/admission refuse this before it is stored, so
// that no status shows that the object exists.
var _ = register(vectors{
	"a Secret as a variable":                 refersTo(`envs: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]`, `spec.envs[].valueFrom.secretKeyRef.name refers to Secret "db"`, variable),
	"a Secret as all variables":              refersTo(`envFrom: [{secretRef: {name: db}}]`, `spec.envFrom[].secretRef.name refers to Secret "db"`, allVariables),
	"a Secret as DATABASE_URL":               refersTo(`config: {databaseUrlFrom: {secretKeyRef: {name: db, key: password}}}`, `spec.config.databaseUrlFrom.secretKeyRef.name refers to Secret "db"`, variable),
	"a Secret as a volume":                   refersTo(`volumes: [{name: a, secret: {secretName: db}}]`, `spec.volumes[].secret.secretName refers to Secret "db"`, volume),
	"a Secret as part of a volume":           refersTo(`volumes: [{name: a, projected: {sources: [{secret: {name: db}}]}}]`, `spec.volumes[].projected.sources[].secret.name refers to Secret "db"`, projected),
	"a Secret as an optional variable":       refersTo(`envs: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password, optional: true}}}]`, `refers to Secret "db"`, variable),
	"a Secret in a sidecar":                  refersTo(`sidecars: [{name: b, image: b, env: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]}]`, `spec.sidecars[].env[].valueFrom.secretKeyRef.name refers to Secret "db"`, initVariable),
	"a Secret in an init container":          refersTo(`initContainers: [{name: b, image: b, env: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]}]`, `spec.initContainers[].env[].valueFrom.secretKeyRef.name refers to Secret "db"`, initVariable),
	"a Secret as a variable by podTemplate":  refersTo(`podTemplate: {spec: {containers: [{name: app, env: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]}]}}`, `spec.podTemplate.spec.containers[].env[].valueFrom.secretKeyRef.name refers to Secret "db"`, variable),
	"a Secret as a volume by podTemplate":    refersTo(`podTemplate: {spec: {volumes: [{name: a, secret: {secretName: db}}]}}`, `spec.podTemplate.spec.volumes[].secret.secretName refers to Secret "db"`, volume),
	"a Secret in an init by podTemplate":     refersTo(`podTemplate: {spec: {initContainers: [{name: b, image: b, env: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]}]}}`, `spec.podTemplate.spec.initContainers[].env[].valueFrom.secretKeyRef.name refers to Secret "db"`, initVariable),
	"a Secret to pull with":                  refersTo(`imagePullSecrets: [{name: db}]`, `spec.imagePullSecrets[].name refers to Secret "db"`, pulls),
	"a Secret to pull with, by podTemplate":  refersTo(`podTemplate: {spec: {imagePullSecrets: [{name: db}]}}`, `spec.podTemplate.spec.imagePullSecrets[].name refers to Secret "db"`, pulls),
	"the certificate of another as his own":  refersTo(`{ports: [{port: 80}], ingress: {hosts: [{host: NAMESPACE.example.com}], tls: [{secretName: db, hosts: [NAMESPACE.example.com]}]}}`, `spec.ingress.tls[].secretName refers to Secret "db"`, certificate),
	"a ConfigMap as all variables":           refersTo(`envFrom: [{configMapRef: {name: db}}]`, `spec.envFrom[].configMapRef.name refers to ConfigMap "db"`, allVariables),
	"a ConfigMap as a volume by podTemplate": refersTo(`podTemplate: {spec: {volumes: [{name: a, configMap: {name: db}}]}}`, `spec.podTemplate.spec.volumes[].configMap.name refers to ConfigMap "db"`, volume),
	"the data of another's claim":            refersTo(`volumes: [{name: a, persistentVolumeClaim: {claimName: db}}]`, `spec.volumes[].persistentVolumeClaim.claimName refers to PersistentVolumeClaim "db", which you may not get`, volume),
	"an account that may everything":         refersTo(`serviceAccount: {name: db, automountToken: true}`, `spec.serviceAccount.name refers to ServiceAccount "db", which you may not impersonate`, runsAs),
	"an account by podTemplate":              refersTo(`podTemplate: {spec: {serviceAccountName: db, automountServiceAccountToken: true}}`, `spec.podTemplate.spec.serviceAccountName refers to ServiceAccount "db"`, runsAs),
	"an account that he may only read": with(refersTo(`serviceAccount: {name: db, automountToken: true}`, `which you may not impersonate`, runsAs),
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"get", "list", "watch"}}),
	"a Secret of which he may read another": with(refersTo(`envFrom: [{secretRef: {name: own}}, {secretRef: {name: db}}]`, `spec.envFrom[].secretRef.name refers to Secret "db"`, allVariables),
		rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"own"}, Verbs: []string{"get"}}),
	"an account that was trusted before it exists": {
		prepare: func(s *scene) {
			s.make(s.namespace, &rbacv1.RoleBinding{
				ObjectMeta: metav1.ObjectMeta{Name: "app"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
				Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: "app", Namespace: s.namespace}},
			})
		},
		does:  applies(`serviceAccount: {automountToken: true}`),
		guard: "config/admission", words: []string{`creates ServiceAccount "app"`, "create serviceaccounts"},
		harm: pods(func(p *corev1.PodSpec) bool { return p.ServiceAccountName == "app" && *p.AutomountServiceAccountToken }),
	},
	"an account that a cloud trusts before it exists": {
		does:  applies(`{serviceAccount: {}, podTemplate: {spec: {volumes: [{name: a, projected: {sources: [{serviceAccountToken: {audience: sts.amazonaws.com, path: t}}]}}]}}}`),
		guard: "config/admission", words: []string{`creates ServiceAccount "app"`},
		harm: pods(func(p *corev1.PodSpec) bool { return p.ServiceAccountName == "app" && len(p.Volumes) > 0 }),
	},
	"an identity of AWS":    identifies("eks.amazonaws.com/role-arn", "arn:aws:iam::111122223333:role/admin"),
	"an identity of Google": identifies("iam.gke.io/gcp-service-account", "admin@project.iam.gserviceaccount.com"),
	"an identity of Azure":  identifies("azure.workload.identity/client-id", "00000000-0000-0000-0000-000000000000"),
	"another identity for an account that the administrator made": {
		prepare: func(s *scene) { s.applied(`serviceAccount: {annotations: {example.com/owner: web}}`) },
		does:    changes(`spec: {serviceAccount: {annotations: {example.com/owner: mine}}}`),
		guard:   "config/admission", words: []string{`creates ServiceAccount "app"`},
		harm: is("app", func(a *corev1.ServiceAccount) bool { return a.Annotations["example.com/owner"] == "mine" }),
	},
	"another identity for an account of another name": {
		prepare: func(s *scene) {
			s.applied(`serviceAccount: {create: true, name: trusted, annotations: {example.com/owner: web}}`)
			assert.NoError(s, changes(`spec: {image: "nginx:1.27"}`)(s), "what leaves the account as it is is refused")
		},
		does:  changes(`spec: {serviceAccount: {annotations: {example.com/owner: mine}}}`),
		guard: "config/admission", words: []string{`creates ServiceAccount "trusted"`, "create serviceaccounts"},
		harm: is("trusted", func(a *corev1.ServiceAccount) bool { return a.Annotations["example.com/owner"] == "mine" }),
	},
	"a Secret that pulls becomes a variable": {
		prepare: func(s *scene) { withObjects(s); s.applied(`imagePullSecrets: [{name: db}]`) },
		does:    changes(`spec: {envFrom: [{secretRef: {name: db}}]}`),
		guard:   "config/admission", words: []string{`spec.envFrom[].secretRef.name refers to Secret "db", which you may not get`},
		harm: pods(allVariables),
	},
	"a certificate becomes a volume": {
		prepare: func(s *scene) {
			withObjects(s)
			s.applied(`{ports: [{port: 80}], ingress: {hosts: [{host: NAMESPACE.example.com}], tls: [{secretName: db, hosts: [NAMESPACE.example.com]}]}}`)
		},
		does:  changes(`spec: {volumes: [{name: a, secret: {secretName: db}}]}`),
		guard: "config/admission", words: []string{`spec.volumes[].secret.secretName refers to Secret "db"`},
		harm: pods(volume),
	},
	"an issuer overwrites a Secret that he may only read":      issues(`issuer: a`),
	"an issuer of the cluster overwrites it, by an annotation": issues(`annotations: {cert-manager.io/cluster-issuer: a}`),
	"an issuer is added for a certificate that he may only read": {
		may: readsSecrets,
		prepare: func(s *scene) {
			withObjects(s)
			s.applied(s.served(`className: a`))
			assert.NoError(s, changes(`spec: {ingress: {className: null}}`)(s), "a certificate that stays is refused")
			s.mayUpdate()
		},
		does:  changes(`spec: {ingress: {issuer: a}}`),
		guard: "config/admission", words: []string{`spec.ingress.tls[].secretName refers to issued Secret "db", which you may not update`},
		harm: is("app", func(i *networkingv1.Ingress) bool {
			return certificate(i) && i.Annotations["cert-manager.io/issuer"] == "a"
		}),
	},
	"which Secrets there are": {
		does:  applies(`envFrom: [{secretRef: {name: nothing-of-that-name}}]`),
		guard: "config/admission", words: []string{`refers to Secret "nothing-of-that-name", which you may not get`},
		harm: func(s *scene) error { // the status says that it is missing
			condition, err := cluster.ConditionNow(s.Context(), s.app(), v1.ConditionReady)
			if err == nil && condition.Reason != v1.ReasonDependencyMissing {
				return errNothingSaid
			}
			return err
		},
	},
	"an AppService that the tenant may only change is deleted by a ttl": {
		prepare: func(s *scene) {
			s.applied(`image: nginx`)
			s.onlyChanges()
			for _, unguarded := range []string{`spec: {image: "nginx:1.27"}`, `spec: {ttl: null}`} {
				assert.NoError(s, changes(unguarded)(s), "what sets no ttl is refused")
			}
		},
		does:  changes(`spec: {ttl: 1m}`),
		guard: "the admission policy for lifetimes", words: []string{"you do not have that right"},
		harm: func(s *scene) error {
			app := s.app()
			err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(app), app)
			if apierrors.IsNotFound(err) || err == nil && app.Status.ExpirationTime != nil {
				return nil
			}
			return cmp.Or(err, errors.New("it lives on"))
		},
	},
	"data that is not retained goes with its field":    loses(`{persistence: {size: 1Mi, mountPath: /a, retain: false}}`, `spec: {persistence: null}`, "spec.persistence, which is not retained", goneClaim("app")),
	"a claim that is not retained goes with its entry": loses(`{claims: [{name: a, size: 1Mi, retain: false}]}`, `spec: {claims: null}`, "claim a of spec.claims, which is not retained", goneClaim("app-a")),
	"data is no longer retained":                       loses(`{persistence: {size: 1Mi, mountPath: /a}}`, `spec: {persistence: {retain: false}}`, "spec.persistence is no longer retained", ownedClaim("app")),
	"generated values go with their field":             loses(`{config: {generated: {A: {}}}}`, `spec: {config: null}`, "the values of spec.config.generated", func(s *scene) error { return isGone(s, &corev1.Secret{}, "app-generated") }),
	"claims of replicas are deleted when they are scaled": loses(`{statefulSet: {}, claims: [{name: a, perReplica: true, size: 1Mi}]}`, `spec: {statefulSet: {whenScaled: Delete}}`, "whenScaled: Delete", is("app", func(set *appsv1.StatefulSet) bool {
		return set.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled == appsv1.DeletePersistentVolumeClaimRetentionPolicyType
	})),
	"a ServiceMonitor without the right": makes(`{ports: [{port: 80}], monitoring: {enabled: true}}`, "spec.monitoring.enabled requires kind ServiceMonitor, and you may not create servicemonitors.monitoring.coreos.com"),
	"an HTTPRoute without the right":     makes(`{ports: [{port: 80}], route: {parentRefs: [{name: a}]}}`, "spec.route requires kind HTTPRoute, and you may not create httproutes.gateway.networking.k8s.io"),
	"a ListenerSet without the right":    with(makes(`{ports: [{port: 80}], route: {parentRefs: [{name: a}], hostnames: [a.example.com], tls: {issuer: a}}}`, "spec.route.tls requires kind ListenerSet, and you may not create listenersets.gateway.networking.k8s.io"), makesRoutes),
	"a GRPCRoute without the right":      with(makes(`{ports: [{port: 80}], route: {kind: GRPCRoute, parentRefs: [{name: a}]}}`, "spec.route requires kind GRPCRoute, and you may not create grpcroutes.gateway.networking.k8s.io"), makesRoutes),
	"a ScaledObject without the right":   makes(`autoscaling: {maxReplicas: 2, triggers: [{type: cron, metadata: {start: 0 6 * * *, end: 0 20 * * *, timezone: UTC, desiredReplicas: "2"}}]}`, "spec.autoscaling.triggers requires kind ScaledObject, and you may not create scaledobjects.keda.sh"),
})

// refersTo is a vector that refers to an object called db of an administrator.
func refersTo(spec, words string, harm any) vector {
	v := vector{prepare: withObjects, does: applies(spec), guard: "config/admission", words: []string{words}}
	switch harm := harm.(type) {
	case func(*corev1.PodSpec) bool:
		v.harm = pods(harm)
	case func(*networkingv1.Ingress) bool:
		v.harm = is("app", harm)
	}
	return v
}

// readsSecrets is the right to get Secrets, and not to write any.
var readsSecrets = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get"}}}

// served is a spec with an Ingress that has a field, and Secret db as its certificate.
func (s *scene) served(field string) string {
	return s.words(`{ports: [{port: 80}], ingress: {` + field + `, hosts: [{host: NAMESPACE.example.com}], tls: [{secretName: db, hosts: [NAMESPACE.example.com]}]}}`)
}

// issues is a vector of a tenant who has cert-manager write Secret db.
func issues(field string) vector {
	return vector{
		may: readsSecrets, prepare: withObjects, does: func(s *scene) error { return applies(s.served(field))(s) },
		guard: "config/admission", words: []string{`spec.ingress.tls[].secretName refers to issued Secret "db", which you may not update`},
		harm: is("app", func(i *networkingv1.Ingress) bool { return certificate(i) && len(i.Annotations) > 0 }),
	}
}

// mayUpdate fails the test unless a user who may update Secret db has an issuer write it, and another user leaves that as it is.
func (s *scene) mayUpdate() {
	s.Helper()
	app := s.appService(s.namespace, "issued", s.served(`issuer: a`))
	update := rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"db"}, Verbs: []string{"update"}}
	assert.NoError(s, newUser(s.T, s.namespace, "updates-"+s.namespace, []rbacv1.PolicyRule{update}).Create(s.Context(), app), "who may update it is refused")
	image := client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"image":"nginx:1.27"}}`))
	assert.NoError(s, s.tenant.Patch(s.Context(), app, image), "what an issuer writes already is refused")
	require.NoError(s, cluster.Client.Delete(s.Context(), app))
}

// makes is a vector that asks for a kind that the tenant may not create.
func makes(spec, words string) vector {
	return vector{does: applies(spec), guard: "config/admission", words: []string{words}, harm: func(s *scene) error {
		return cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(s.app()), s.app()) // it is stored, and the operator creates the rest
	}}
}

// identifies is one about an identity in a cloud for an account of the tenant's own, whose name the cloud may have trusted before.
func identifies(key, value string) vector {
	return vector{
		does:  applies(fmt.Sprintf(`serviceAccount: {create: true, annotations: {%s: %q}}`, key, value)),
		guard: "config/admission", words: []string{`creates ServiceAccount "app"`, "create serviceaccounts"},
		harm: is("app", func(a *corev1.ServiceAccount) bool { return a.Annotations[key] == value }),
	}
}

// onlyChanges makes the tenant a user who may change AppServices, and neither create nor delete any.
func (s *scene) onlyChanges() {
	s.tenant = newUserWith(s.T, s.namespace, "changes-"+s.namespace, []rbacv1.PolicyRule{
		{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appservices"}, Verbs: []string{"get", "list", "patch", "update"}},
	})
}

// loses is a vector of a user who may only change AppServices, and has the operator delete the claims or values of one.
func loses(spec, patch, words string, harm func(*scene) error) vector {
	return vector{
		prepare: func(s *scene) {
			s.applied(spec)
			harness.Eventually(s.T, "the AppService is released", func() error { return released(s) })
			s.onlyChanges()
			assert.NoError(s, changes(`spec: {image: "nginx:1.27"}`)(s), "what deletes nothing is refused")
		},
		does: changes(patch), harm: harm,
		guard: "the admission policy for lifetimes", words: []string{words, "the right to delete this AppService"},
	}
}

// released returns an error until the AppService has a release.
func released(s *scene) error {
	if s.live().Status.Release == nil {
		return errors.New("nothing is released yet")
	}
	return nil
}

// isGone returns nil once an object does not exist, or is being deleted.
func isGone(s *scene, object client.Object, name string) error {
	err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, object)
	if apierrors.IsNotFound(err) || err == nil && object.GetDeletionTimestamp() != nil {
		return nil
	}
	return cmp.Or(err, errors.New("it is there"))
}

func goneClaim(name string) func(*scene) error {
	return func(s *scene) error { return isGone(s, &corev1.PersistentVolumeClaim{}, name) }
}

// ownedClaim returns nil once a claim is deleted with the AppService.
func ownedClaim(name string) func(*scene) error {
	return is(name, func(claim *corev1.PersistentVolumeClaim) bool { return metav1.GetControllerOf(claim) != nil })
}

// makesRoutes is the right to make HTTPRoutes.
var makesRoutes = rbacv1.PolicyRule{APIGroups: []string{"gateway.networking.k8s.io"}, Resources: []string{"httproutes"}, Verbs: []string{"create"}}

// makesAccounts is the right to make service accounts.
var makesAccounts = rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"serviceaccounts"}, Verbs: []string{"create"}}

// with adds rights of the tenant to a vector.
func with(v vector, rules ...rbacv1.PolicyRule) vector {
	v.may = append(v.may, rules...)
	return v
}

// withObjects creates an object called db of each kind that can be referred to, and a Secret own.
func withObjects(s *scene) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "db"}, StringData: map[string]string{"password": "x"}}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Name: "db"}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Mi")}
	s.make(s.namespace, secret)
	secret.Name = "own"
	s.make(s.namespace, secret)
	s.make(s.namespace, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "db"}, Data: map[string]string{"password": "x"}})
	s.make(s.namespace, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "db"}})
	s.make(s.namespace, claim)
}

// applied has an administrator create AppService app.
func (s *scene) applied(spec string) {
	s.Helper()
	require.NoError(s, cluster.Client.Create(s.Context(), s.appService(s.namespace, "app", spec)))
}

func variable(p *corev1.PodSpec) bool     { return readsVariable(p.Containers) }
func initVariable(p *corev1.PodSpec) bool { return readsVariable(p.InitContainers) }

func readsVariable(list []corev1.Container) bool {
	return slices.ContainsFunc(list, func(c corev1.Container) bool {
		return slices.ContainsFunc(c.Env, func(e corev1.EnvVar) bool {
			return e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil && e.ValueFrom.SecretKeyRef.Name == "db"
		})
	})
}

func allVariables(p *corev1.PodSpec) bool {
	return slices.ContainsFunc(p.Containers[0].EnvFrom, func(e corev1.EnvFromSource) bool {
		return e.SecretRef != nil && e.SecretRef.Name == "db" || e.ConfigMapRef != nil && e.ConfigMapRef.Name == "db"
	})
}

func volume(p *corev1.PodSpec) bool {
	return slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool {
		return v.Secret != nil && v.Secret.SecretName == "db" || v.ConfigMap != nil && v.ConfigMap.Name == "db" ||
			v.PersistentVolumeClaim != nil && v.PersistentVolumeClaim.ClaimName == "db"
	})
}

func projected(p *corev1.PodSpec) bool {
	return slices.ContainsFunc(p.Volumes, func(v corev1.Volume) bool {
		return v.Projected != nil && v.Projected.Sources[0].Secret != nil && v.Projected.Sources[0].Secret.Name == "db"
	})
}

func pulls(p *corev1.PodSpec) bool {
	return slices.Contains(p.ImagePullSecrets, corev1.LocalObjectReference{Name: "db"})
}

func runsAs(p *corev1.PodSpec) bool {
	return p.ServiceAccountName == "db" && p.AutomountServiceAccountToken != nil && *p.AutomountServiceAccountToken
}

// errNothingSaid says that the status is silent.
var errNothingSaid = errors.New("the status does not say what is missing")

func certificate(i *networkingv1.Ingress) bool { return i.Spec.TLS[0].SecretName == "db" }
