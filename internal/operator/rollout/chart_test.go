package rollout

import (
	"testing"

	"github.com/example/appservice-operator/internal/engine/render"
)

const known = "0123456789abcdef0123456789abcdef"

var one = Chart{Identity: render.Identity{Name: "tiny", Version: "1.0.0", Digest: known}, Operator: "v1+dirty"}

func TestWhichChartIsAskedFor(t *testing.T) {
	for asked, want := range map[string]bool{known: true, known[:12]: true, known[:8]: true, known[:7]: false, "": false, known + "0": false, "fedcba98": false} {
		if got := one.named(asked); got != want {
			t.Errorf("%q names the chart: %t, want %t", asked, got, want)
		}
	}
	valued := one
	valued.Values = "fedcba9876543210"
	for asked, want := range map[string]bool{
		known: false, known[:12] + "+fedcba987654": true, known + "+" + valued.Values: true, known[:12] + "+fedcba9": false,
		known[:12] + "+" + known[:12]: false, "+" + valued.Values: false, valued.Short(): true,
	} {
		if got := valued.named(asked); got != want {
			t.Errorf("with values, %q names the chart: %t, want %t", asked, got, want)
		}
	}
	if one.named(valued.Short()) {
		t.Error("a request for other values names the chart without any")
	}
}
