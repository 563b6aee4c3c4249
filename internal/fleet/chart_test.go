package fleet

import (
	"testing"

	"github.com/example/appservice-operator/internal/render"
)

const digest = "0123456789abcdef0123456789abcdef"

var one = Chart{Identity: render.Identity{Name: "tiny", Version: "1.0.0", Digest: digest}, Operator: "v1+dirty"}

func TestWhichChartIsAskedFor(t *testing.T) {
	for asked, want := range map[string]bool{digest: true, digest[:12]: true, digest[:8]: true, digest[:7]: false, "": false, digest + "0": false, "fedcba98": false} {
		if got := one.named(asked); got != want {
			t.Errorf("%q names the chart: %t, want %t", asked, got, want)
		}
	}
	valued := one
	valued.Values = "fedcba9876543210"
	for asked, want := range map[string]bool{
		digest: false, digest[:12] + "+fedcba987654": true, digest + "+" + valued.Values: true, digest[:12] + "+fedcba9": false,
		digest[:12] + "+" + digest[:12]: false, "+" + valued.Values: false, valued.Short(): true,
	} {
		if got := valued.named(asked); got != want {
			t.Errorf("with values, %q names the chart: %t, want %t", asked, got, want)
		}
	}
	if one.named(valued.Short()) {
		t.Error("a request for other values names the chart without any")
	}
}
