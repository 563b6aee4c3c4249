package render

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/example/appservice-operator/internal/engine/kube"
)

func TestWhatAClusterDoesNotServe(t *testing.T) {
	const (
		triggers = `{image: a, autoscaling: {maxReplicas: 9, triggers: [{type: cron}]}}`
		monitor  = `{image: a, ports: [{port: 80}], monitoring: {enabled: true}}`
		keda     = "keda.sh/v1alpha1/ScaledObject"
	)
	cases := map[string]struct {
		spec              string
		capabilities      *chartutil.Capabilities
		lacking, unserved int
		group             string
	}{
		"all is served":               {triggers, everyKind, 0, 0, "keda.sh"},
		"what can be done without":    {monitor, serving(keda), 0, 1, "monitoring.coreos.com"},
		"what cannot be done without": {triggers, serving("monitoring.coreos.com/v1/ServiceMonitor"), 1, 0, "keda.sh"},
		"another version of it":       {triggers, serving("keda.sh/v1/ScaledObject"), 1, 0, "keda.sh"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			result, err := shipped(t).Render(t.Context(), appService(t, test.spec), test.capabilities)
			require.NoError(t, err)
			if len(result.Lacking) != test.lacking || len(result.Unserved) != test.unserved {
				t.Errorf("got %v lacking and %v left out, want %d and %d", result.Lacking, result.Unserved, test.lacking, test.unserved)
			}
			if !slices.Contains(result.Groups(), test.group) {
				t.Errorf("group %s is not among %v: nobody would look again when it is served", test.group, result.Groups())
			}
			if at := slices.IndexFunc(result.Keys, func(key kube.Key) bool { return key.Group == test.group }); at >= 0 && test.lacking+test.unserved > 0 {
				t.Errorf("%s is to be written", result.Keys[at])
			}
		})
	}
}

func TestWhatIsLackingIsSaid(t *testing.T) {
	err := &UnservedError{Lack{kube.Key{Name: "web"}, "spec.autoscaling.triggers"}}
	err.Kind, err.Group = "ScaledObject", "keda.sh"
	const want = "the cluster does not serve ScaledObject in group keda.sh, which spec.autoscaling.triggers needs"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}
