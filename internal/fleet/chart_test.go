package fleet

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/render"
)

const digest = "0123456789abcdef0123456789abcdef"

var one = Chart{Identity: render.Identity{Name: "tiny", Version: "1.0.0", Digest: digest}, Operator: "v1+dirty"}

func TestARecordSaysWhatRenderedIt(t *testing.T) {
	others := map[string]Chart{
		"another chart":    {Identity: render.Identity{Name: "tiny", Version: "1.0.0", Digest: "another"}, Operator: one.Operator},
		"another operator": {Identity: one.Identity, Operator: "v2"},
	}
	labels := one.Labels()
	record := &cluster.Record{RenderedBy: labels["app.example.com/rendered-by"], Rollout: one.Mark(7)}
	if !one.Rendered(record) || !one.Begun(record, 7) {
		t.Error("it did not")
	}
	for name, other := range others {
		if other.Rendered(record) || other.Begun(record, 7) {
			t.Errorf("%s did", name)
		}
	}
	if one.Begun(record, 8) {
		t.Error("what a later spec asks for is the chart's doing")
	}
	if one.Begun(nil, 7) || one.Begun(&cluster.Record{}, 7) || one.Rendered(&cluster.Record{}) {
		t.Error("a record of an earlier operator says anything")
	}
	for _, value := range []string{labels["app.example.com/rendered-by"], labels["app.example.com/chart-digest"], one.Mark(1 << 62)} {
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			t.Errorf("%q cannot be a label: %v", value, problems)
		}
	}
}

func TestWhichChartIsAskedFor(t *testing.T) {
	for asked, want := range map[string]bool{digest: true, digest[:12]: true, digest[:8]: true, digest[:7]: false, "": false, digest + "0": false, "fedcba98": false} {
		if got := one.named(asked); got != want {
			t.Errorf("%q names the chart: %t, want %t", asked, got, want)
		}
	}
}
