//go:build cluster

package security

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Release records have names that anyone can predict.
var _ = register(vectors{
	"a Secret has the name of the next release record": squats(func(*scene, *corev1.Secret) error { return nil }),
	"a Secret with the name of the next release record names the AppService as an object of another kind": squats(func(s *scene, secret *corev1.Secret) error {
		app := s.app()
		err := s.tenant.Get(s.Context(), client.ObjectKeyFromObject(app), app)
		controller := true
		secret.OwnerReferences = []metav1.OwnerReference{{APIVersion: "nobody.example.org/v1", Kind: "Nothing", Name: "nothing", UID: app.UID, Controller: &controller}}
		return err
	}),
})

// squats is a vector that tries to keep releases of an AppService from being recorded.
func squats(as func(*scene, *corev1.Secret) error) vector {
	return vector{
		may: writesSecrets,
		does: func(s *scene) error {
			s.begins(`{}`)
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "sh.helm.release.v1.app.v2"}}
			if err := as(s, secret); err != nil {
				return err
			}
			if err := s.tenant.Create(s.Context(), secret); err != nil {
				return err
			}
			return changes(`spec: {image: later}`)(s)
		},
		seen: func(s *scene) error {
			if err := recorded(s); err != nil {
				return err
			}
			return ready(s)
		},
		harm: func(s *scene) error {
			if recorded(s) == nil {
				return fmt.Errorf("the release is recorded")
			}
			return nil
		},
		guard: "a revision is left out whose record has the name of a Secret that is not the AppService's",
		fixed: "it is one rule for every release",
	}
}

// recorded returns nil once the second release of AppService app is recorded.
func recorded(s *scene) error {
	if release := s.live().Status.Release; release == nil || release.Revision < 3 {
		return fmt.Errorf("the release is %v; %s", release, s.standing())
	}
	return nil
}
