//go:build cluster

package security

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

// generatesKey has the operator make a value for KEY.
const generatesKey = `config: {generated: {KEY: {}}}`

// Values that the operator makes for one AppService are nobody else's, and never told.
var _ = register(vectors{
	"another's Secret has the name of the one with generated values": takesOver(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app-generated"}, Data: map[string][]byte{"KEY": []byte("trusted")}},
		generatesKey, `Secret "app-generated" exists`, pods(takesGenerated)),
	"the generated values of an AppService that was deleted come to another of its name": {
		may:     updatesAll,
		prepare: leftValues,
		does: func(s *scene) error {
			app := s.appService(s.namespace, "app", `{`+generatesKey+`}`)
			app.SetAnnotations(map[string]string{v1.AnnotationAdopt: "true"})
			return s.tenant.Create(s.Context(), app)
		},
		harm: pods(takesGenerated), guard: "the admission policy for adoption",
		words: []string{"adopts Secret app-generated with its values", "get, update and delete secrets"},
	},
	"the marks of generated values are forged, so that they are made again": {
		may: writesSecrets,
		does: func(s *scene) error {
			s.begins(`{` + generatesKey + `}`)
			secret := s.generated()
			s.remembered = string(secret.Data["KEY"])
			forged := fmt.Sprintf(`{"metadata":{"annotations":{%q:"KEY=hex:16,ca,tls",%q:"",%q:"9.%s"}}}`, v1.AnnotationGenerate,
				v1.AnnotationGenerated, v1.AnnotationGeneratedVersion, strings.Repeat("9", 1000))
			return s.tenant.Patch(s.Context(), secret, client.RawPatch(types.MergePatchType, []byte(forged)))
		},
		seen: func(s *scene) error {
			annotations := s.generated().Annotations
			if annotations[v1.AnnotationGenerated] != "KEY" || annotations[v1.AnnotationGenerate] != "KEY=alphanumeric:32" {
				return fmt.Errorf("the marks are %q", annotations)
			}
			return ready(s)
		},
		harm: func(s *scene) error {
			if string(s.generated().Data["KEY"]) == s.remembered {
				return errors.New("the value is as it was made")
			}
			return nil
		},
		guard: "a value that is there stays, whatever the marks say", fixed: "it is one rule for every value",
	},
	"a generated value is shown where more people read than in Secrets": {
		may: writesSecrets,
		does: func(s *scene) error {
			s.begins(`{` + generatesKey + `}`)
			s.remembered = string(s.generated().Data["KEY"])
			return s.tenant.Patch(s.Context(), s.generated(), client.RawPatch(types.JSONPatchType, []byte(`[{"op":"remove","path":"/data/KEY"}]`)))
		},
		seen: func(s *scene) error {
			if s.generated().Annotations[v1.AnnotationGeneratedVersion] != "1.1" {
				return errors.New("the value was not made again")
			}
			return ready(s)
		},
		harm: func(s *scene) error {
			events := &eventsv1.EventList{}
			if err := cluster.Client.List(s.Context(), events, client.InNamespace(s.namespace)); err != nil {
				return err
			}
			told, err := yaml.Marshal([]any{s.live(), events})
			if err != nil {
				return err
			}
			for _, value := range []string{s.remembered, string(s.generated().Data["KEY"])} {
				if strings.Contains(string(told), value) || strings.Contains(string(told), base64.StdEncoding.EncodeToString([]byte(value))) {
					return nil
				}
			}
			return errors.New("no value is in the AppService or in events")
		},
		guard: "messages and events name keys of Secrets, never values", fixed: "it is one rule for all fields of Secrets",
	},
})

// takesGenerated reports whether pods take the Secret with generated values.
func takesGenerated(pods *corev1.PodSpec) bool {
	return slices.ContainsFunc(pods.Containers[0].Env, func(env corev1.EnvVar) bool {
		return env.ValueFrom != nil && env.ValueFrom.SecretKeyRef != nil && env.ValueFrom.SecretKeyRef.Name == "app-generated"
	})
}

// generated returns the Secret with generated values of AppService app.
func (s *scene) generated() *corev1.Secret {
	s.Helper()
	secret := &corev1.Secret{}
	cluster.Get(s.T, client.ObjectKey{Namespace: s.namespace, Name: "app-generated"}, secret)
	return secret
}

// leftValues creates the Secret with generated values of an AppService app that was deleted.
func leftValues(s *scene) {
	s.make(s.namespace, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app-generated",
		Labels: map[string]string{v1.LabelManaged: "true", v1.LabelOwner: "an-earlier-one"},
		Annotations: map[string]string{v1.AnnotationStamp: "x", v1.AnnotationRetainedFor: "app", v1.AnnotationGenerated: "KEY",
			"meta.helm.sh/release-name": "app", "meta.helm.sh/release-namespace": s.namespace},
	}, Data: map[string][]byte{"KEY": []byte("trusted")}})
}
