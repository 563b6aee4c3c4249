//go:build cluster

package scenario

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// counted are the kinds of objects of whole, as a quota counts them, and one of each.
var counted = []struct{ resource, what string }{
	{"count/services", "Service"},
	{"count/deployments.apps", "Deployment"},
	{"count/configmaps", "ConfigMap/web-config"},
	{"count/secrets", "Secret/web-config"},
	{"count/ingresses.networking.k8s.io", "Ingress"},
	{"count/networkpolicies.networking.k8s.io", "NetworkPolicy"},
	{"count/poddisruptionbudgets.policy", "PodDisruptionBudget"},
	{"count/serviceaccounts", "ServiceAccount"},
}

// quotas are the incidents with a quota of 0: no object of a kind can be created until it is removed.
func quotas() []incident {
	list := []incident{{"quota/records/repair", repairUnderQuota}}
	for _, kind := range counted {
		name := "quota/" + strings.ReplaceAll(kind.what, "/", "-")
		list = append(list,
			incident{name + "/install", func(s *scene) {
				quota := s.quota(kind.resource)
				s.start()
				s.want(whole)
				s.mentions("exceeded quota")
				s.lift(quota)
				s.endsAs(whole)
			}},
			incident{name + "/repair", func(s *scene) {
				s.with(whole)
				quota := s.quota(kind.resource)
				s.drop(kind.what)
				s.mentions("exceeded quota")
				s.lift(quota)
				s.endsAs(whole)
			}},
		)
	}
	return list
}

// repairUnderQuota is an AppService whose record cannot be written: its objects are repaired all the same.
func repairUnderQuota(s *scene) {
	quota := s.quota("count/secrets")
	s.start()
	s.want(small)
	s.mentions("exceeded quota")
	s.drop("Service")
	s.fault()
	harness.Eventually(s.T, "the Service comes back", func() error {
		if s.uid("Service") == "" {
			return fmt.Errorf("there is no Service")
		}
		return nil
	})
	s.recovered()
	s.lift(quota)
	s.endsAs(small)
}

// quota forbids further objects of a kind, and waits until that is in effect.
func (s *scene) quota(kind string) *corev1.ResourceQuota {
	s.Helper()
	name := corev1.ResourceName(kind)
	quota := &corev1.ResourceQuota{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "none"},
		Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{name: resource.MustParse("0")}},
	}
	cluster.Create(s.T, quota)
	s.holds(s.T, quota)
	kindName, _, _ := strings.Cut(strings.TrimPrefix(kind, "count/"), ".")
	s.probe(kindName, "exceeded quota") // its admission uses a cache of its own
	return quota
}

// holds waits until a quota is in effect.
func (s *stage) holds(t *testing.T, object client.Object) {
	t.Helper()
	harness.Eventually(t, "the quota holds", func() error {
		quota := &corev1.ResourceQuota{}
		if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(object), quota); err != nil {
			return err
		}
		if len(quota.Status.Used) == 0 {
			return fmt.Errorf("nobody has counted yet")
		}
		return nil
	})
}

// lift removes the quota.
func (s *scene) lift(object client.Object) {
	s.Helper()
	if err := cluster.Client.Delete(s.Context(), object); err != nil {
		s.Fatal(err)
	}
	s.fault()
}

// mentions waits until the AppService or AppJob is not ready, with a message that contains a text.
func (s *scene) mentions(text string) {
	s.Helper()
	harness.Eventually(s.T, "Ready mentions "+text, func() error {
		live := s.object(s.kind)
		if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(live), live); err != nil {
			return err
		}
		app, err := servedOf(s.kind, map[string]*unstructured.Unstructured{s.kind + " " + appName: live})
		if err != nil {
			return err
		}
		condition := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
		if condition == nil || condition.ObservedGeneration != app.Generation || condition.Status != metav1.ConditionFalse || !strings.Contains(condition.Message, text) {
			return fmt.Errorf("it is %+v in generation %d", condition, app.Generation)
		}
		return nil
	})
}
