//go:build cluster

package security

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/test/harness"
)

// A vector without a switch was seen to succeed without the guarding line.
const (
	noReserved = "the hook Reserved holds for every spec, behind the rules of the CRD"
	noProfile  = "the hook PodSecurity holds the pods to the profile that the spec asks for in every namespace, behind the rules of the CRD"
	noTakeBack = "a first release that is refused is always taken back"
	noDigest   = "no digest of a value is made for pods"
)

var _ = register(vectors{
	"root despite the profile": {
		does: applies(`security: {profile: Restricted, pod: {runAsNonRoot: false, runAsUser: 0}}`), harm: pods(anyPod),
		guard: "a rule of the CRD, and Pod Security on rendered pods", words: []string{"spec.security.profile Restricted excludes"}, fixed: noProfile,
	},
	"a sidecar of root's despite the profile": {
		does: applies(`{security: {profile: Restricted}, sidecars: [{name: b, image: b, securityContext: {runAsUser: 0}}]}`), harm: pods(anyPod),
		guard: "the profile that the spec asks for, on rendered pods", reason: v1.ReasonPodSecurityViolation,
		words: []string{`"restricted"`, "the spec requests", "runAsUser"}, fixed: noProfile,
	},
	"root by podTemplate despite the profile": {
		does: applies(`{security: {profile: Restricted}, podTemplate: {spec: {securityContext: {runAsUser: 0}}}}`), harm: pods(anyPod),
		guard: "the profile that the spec asks for, on rendered pods", reason: v1.ReasonPodSecurityViolation,
		words: []string{`"restricted"`, "the spec requests", "runAsUser"}, fixed: noProfile,
	},
	"a Service that kube-proxy leaves out": reservedKey("commonLabels: {service.kubernetes.io/service-proxy-name: none}"),
	"a label of Pod Security":              reservedKey("commonLabels: {pod-security.kubernetes.io/enforce: privileged}"),
	"a label of addons by podTemplate":     reservedKey("podTemplate: {metadata: {labels: {kubernetes.io/cluster-service: 'true'}}}"),
	"an object kept for somebody else":     reservedKey("service: {annotations: {app.example.com/retained-for: other}}"),
	"an object that stays for ever":        reservedKey("service: {annotations: {helm.sh/resource-policy: keep}}"),

	"a Service of an install that is refused": {
		may:  writesSecrets,
		does: applies(`{ports: [{port: 80}], envs: [{name: A, valueFrom: {secretKeyRef: {name: a, key: "a\nb", optional: true}}}]}`), harm: is("app", anything[*corev1.Service]),
		guard: "a first release that is refused is taken back", reason: v1.ReasonInstallFailed, words: []string{"Deployment app"}, fixed: noTakeBack,
	},
	"a Service of an install with a mount for the privileged": {
		does: applies(`{ports: [{port: 80}], sidecars: [{name: b, image: b, volumeMounts: [{name: a, mountPath: /a, mountPropagation: Bidirectional}]}]}`), harm: is("app", anything[*corev1.Service]),
		guard: "a first release that is refused is taken back", reason: v1.ReasonInstallFailed, words: []string{"Deployment app"}, fixed: noTakeBack,
	},
	"a path that the API server refuses late": {
		does: applies(`{ports: [{port: 80}], ingress: {hosts: [{host: NAMESPACE.example.com, paths: [{path: /x/../app}]}]}}`), harm: is("app", anything[*corev1.Service]),
		guard: "a rule of the CRD, and a first release that is refused is taken back", words: []string{"path must not have"}, fixed: noTakeBack,
	},
	"that a Secret has a value again": {
		prepare: exists(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "secret"}, StringData: map[string]string{"key": "one"}}),
		may:     writesSecrets,
		does:    applies(`envFrom: [{secretRef: {name: secret}}]`),
		seen:    restored, harm: is("app", func(d *appsv1.Deployment) bool { return version(d) == d.Labels[firstVersion] }),
		guard: "what pods show is made of no value", fixed: noDigest,
	},
	"a password by the checksum of a configuration": {
		does: applies(`{config: {databaseUrl: "postgres://web:summer2026@db"}}`), seen: ready,
		harm: is("app", func(d *appsv1.Deployment) bool {
			return strings.Contains(fmt.Sprint(d.Spec.Template.Annotations), guess)
		}),
		guard: "the checksum that pods show has a key", fixed: "TestPodsDoNotShowAChecksumOfASecret fails without the hook Checksum",
	},
	"a password by the name of a task's Job": {
		does: applies(`{config: {databaseUrl: "postgres://web:summer2026@db"}, release: {command: [migrate]}}`), seen: ready,
		harm: func(s *scene) error {
			job, err := taskIn(s, s.namespace)
			if err != nil {
				return err
			}
			app := s.app()
			err = cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(app), app)
			if err == nil && !strings.HasSuffix(job.Name, digest.Of([]byte(app.Status.Runs[0].Digest))[:8]) {
				err = errors.New("its name has another end")
			}
			return err
		},
		guard: "the names of Jobs are made with a key", fixed: "TestTheNameOfATaskSaysNothingOfItsSecrets fails without the key",
	},
})

// guess is the checksum of a configuration with a password that people guess.
var guess = fmt.Sprintf("%x", sha256.Sum256([]byte("{}\n{}\npostgres://web:summer2026@db")))

func anyPod(*corev1.PodSpec) bool { return true }

// reservedKey is a vector that sets a reserved key.
func reservedKey(spec string) vector {
	words := "must not have keys that begin with"
	if strings.Contains(strings.ToLower(spec), "labels") {
		words = "is reserved"
	}
	return vector{
		does: applies("{ports: [{port: 80}], " + spec + "}"), harm: is("app", anything[*corev1.Service]),
		guard: "rules of the CRD, and a hook on rendered objects", words: []string{words}, fixed: noReserved,
	}
}

// firstVersion is the label by which an administrator records the first version of the pods on the Deployment.
const firstVersion = "first-version"

func version(d *appsv1.Deployment) string {
	return d.Spec.Template.Annotations[postrender.AnnotationReferences]
}

// restored changes the value of the Secret, then changes it back, and returns nil once the pods have rolled for both.
func restored(s *scene) error {
	cluster.Ready(s.T, s.app())
	deployment := &appsv1.Deployment{}
	key := client.ObjectKeyFromObject(s.app())
	if err := cluster.Client.Get(s.Context(), key, deployment); err != nil {
		return err
	}
	seen := []string{version(deployment)}
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{%q:%q}}}`, firstVersion, seen[0])
	if err := cluster.Client.Patch(s.Context(), deployment, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return err
	}
	for _, value := range []string{"two", "one"} {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "secret"}}
		patch := fmt.Appendf(nil, `{"stringData":{"key":%q}}`, value)
		if err := cluster.Client.Patch(s.Context(), secret, client.RawPatch(types.MergePatchType, patch)); err != nil {
			return err
		}
		harness.Eventually(s.T, "the pods roll", func() error {
			if err := cluster.Client.Get(s.Context(), key, deployment); err != nil {
				return err
			}
			if version(deployment) == seen[len(seen)-1] {
				return errors.New("they show what they did")
			}
			return nil
		})
		seen = append(seen, version(deployment))
	}
	return nil
}
