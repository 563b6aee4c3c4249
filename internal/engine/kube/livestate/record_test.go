package livestate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Anyone who may write Secrets can write one that looks like a release record.
func TestARecordHasAllMarksOfTheOperator(t *testing.T) {
	for name, test := range map[string]struct {
		change func(*corev1.Secret)
		want   bool
	}{
		"the operator's own":                      {func(*corev1.Secret) {}, true},
		"one of an earlier version of the API":    {func(s *corev1.Secret) { s.OwnerReferences[0].APIVersion = "app.example.com/v1beta1" }, true},
		"of a kind of another group":              {func(s *corev1.Secret) { s.OwnerReferences[0].APIVersion = "nobody.example.org/v1" }, false},
		"of another kind":                         {func(s *corev1.Secret) { s.OwnerReferences[0].Kind = "AppJob" }, false},
		"of another name":                         {func(s *corev1.Secret) { s.OwnerReferences[0].Name = "api" }, false},
		"of an earlier resource of the name":      {func(s *corev1.Secret) { s.OwnerReferences[0].UID = "earlier" }, false},
		"owned and not controlled":                {func(s *corev1.Secret) { s.OwnerReferences[0].Controller = ptr.To(false) }, false},
		"without an owner":                        {func(s *corev1.Secret) { s.OwnerReferences = nil }, false},
		"without the label of what is managed":    {func(s *corev1.Secret) { delete(s.Labels, v1.LabelManaged) }, false},
		"without the label of Helm":               {func(s *corev1.Secret) { delete(s.Labels, "owner") }, false},
		"of another namespace":                    {func(s *corev1.Secret) { s.Namespace = "other" }, false},
		"a Secret of another type":                {func(s *corev1.Secret) { s.Type = corev1.SecretTypeOpaque }, false},
		"of any name":                             {func(s *corev1.Secret) { s.Name = "harmless" }, false},
		"with the name of another resource's":     {func(s *corev1.Secret) { s.Name = "sh.helm.release.v1.api.v7" }, false},
		"with the name of another revision":       {func(s *corev1.Secret) { s.Name = "sh.helm.release.v1.web.v8" }, false},
		"with a number that is written otherwise": {func(s *corev1.Secret) { s.Labels["version"], s.Name = "07", "sh.helm.release.v1.web.v07" }, false},
		"without a number":                        {func(s *corev1.Secret) { delete(s.Labels, "version") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
				Namespace: "demo", Name: "sh.helm.release.v1.web.v7",
				Labels:          map[string]string{"owner": "helm", "name": "web", "version": "7", "status": "deployed", v1.LabelManaged: "true"},
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(resource(), v1.GroupVersion.WithKind(v1.Kind))},
			}, Type: RecordType}
			test.change(secret)
			record := RecordOf(resource(), secret)
			assert.Equal(t, test.want, record != nil)
			if record != nil {
				assert.Equal(t, 7, record.Revision)
			}
		})
	}
}
