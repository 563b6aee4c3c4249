//go:build cluster

package security

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/files"
)

// measured is how many creations a figure is the median of.
const measured = 200

// TestWhatPoliciesCost measures how long the API server takes for an AppService with the policies and without, alternately, so that other load
// affects both. It prints figures and asserts nothing.
func TestWhatPoliciesCost(t *testing.T) {
	installAdmission(t)
	guarded := &scene{T: t, namespace: newNamespace(t, "on-latency-", nil)}
	open := &scene{T: t, namespace: newNamespace(t, "off-latency-", map[string]string{guardsOff: "off"})}
	var secrets []string
	for i := range 10 {
		secrets = append(secrets, fmt.Sprintf("{name: A%d, valueFrom: {secretKeyRef: {name: s%d, key: k}}}", i, i))
	}
	for _, s := range []*scene{guarded, open} {
		s.tenant = newTenant(t, s.namespace, []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"httproutes", "servicemonitors", "scaledobjects"}, Verbs: []string{"create"}}})
		s.has("edit")
	}
	full, err := yaml.Marshal(files.Objects(t, filepath.Join(files.Root(t), "config/samples/full.yaml"))[0].Object["spec"])
	require.NoError(t, err)
	for _, each := range []struct{ name, spec string }{
		{"with every field", string(full)},
		{"without references", "envs: [{name: A, value: b}]"},
		{"with 10 Secrets", "envs: [" + strings.Join(secrets, ", ") + "]"},
	} {
		took := map[*scene][]time.Duration{}
		for i := range measured + 10 { // the first ones warm up
			for _, s := range []*scene{guarded, open} {
				app := s.appService(s.namespace, "app", each.spec)
				begin := time.Now()
				require.NoError(t, s.tenant.Create(t.Context(), app, client.DryRunAll))
				if i >= 10 {
					took[s] = append(took[s], time.Since(begin))
				}
			}
		}
		with, without := median(took[guarded]), median(took[open])
		t.Logf("an AppService %s: %s with policies, %s without, medians of %d", each.name, with, without, measured)
		fmt.Printf("ADMISSION create %s with=%s without=%s\n", strings.ReplaceAll(each.name, " ", "_"), with, without)
	}
}

func median(list []time.Duration) time.Duration {
	slices.Sort(list)
	return list[len(list)/2].Round(10 * time.Microsecond)
}
