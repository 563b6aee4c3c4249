//go:build cluster

package security

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Helm and other operators keep their records in Secrets, too, and the policy for our records lets them: operators on helm-operator-plugins make their
// resource the controller of its records.
func TestRecordsOfOthersAreTheirs(t *testing.T) {
	installAdmission(t)
	s := &scene{T: t, namespace: newNamespace(t, "on-records-", nil)}
	s.tenant = newTenant(t, s.namespace, writesSecrets)
	for name, owners := range map[string][]metav1.OwnerReference{
		"helm":  nil,
		"nginx": {{APIVersion: "charts.example.com/v1alpha1", Kind: "Nginx", Name: "nginx", UID: "uid", Controller: ptr.To(true)}},
	} {
		record := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: "sh.helm.release.v1." + name + ".v1", OwnerReferences: owners,
			Labels: map[string]string{"owner": "helm", "name": name, "version": "1", "status": "deployed"},
		}, Type: "helm.sh/release.v1", StringData: map[string]string{"release": "x"}}
		require.NoError(t, s.tenant.Create(t.Context(), record))
		record.Labels["status"] = "superseded"
		require.NoError(t, s.tenant.Update(t.Context(), record))
	}
}
