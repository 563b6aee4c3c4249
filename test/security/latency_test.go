//go:build cluster

package security

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"
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
		s.tenant = newTenant(t, s.namespace, nil)
		s.has("edit")
	}
	for _, each := range []struct{ name, spec string }{
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
