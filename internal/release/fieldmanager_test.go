package release

import (
	"sync"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/kube"
	"k8s.io/client-go/rest"
)

// One process may serve several kinds. The race detector sees whether the actors get in each other's way.
func TestActorsAreMadeSideBySide(t *testing.T) {
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if _, err := NewActor(Options{Config: &rest.Config{}, Chart: &chart.Chart{Metadata: &chart.Metadata{}}}); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if kube.ManagedFieldsManager != FieldManager {
		t.Errorf("Helm writes as %q, want %q", kube.ManagedFieldsManager, FieldManager)
	}
}
