package rollout

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/operator/status/health"
)

var (
	plain = Basis{Chart: one}
	set   = Basis{Chart: one, Defaults: Defaults{Digest: "89abcdef89abcdef89abcdef89abcdef"}}
	both  = Parts{Chart: true, Defaults: true}
)

// recordOf is a record of rendered objects, with a mark or without.
func recordOf(asked Basis, mark string) *livestate.Record {
	labels := asked.Labels()
	return &livestate.Record{
		RenderedBy: labels["app.example.com/rendered-by"], Defaults: labels["app.example.com/defaults"], Rollout: mark,
	}
}

func TestWhatIsNewToARecord(t *testing.T) {
	chart, operator, values, defaults := set, set, set, set
	chart.Chart.Digest, operator.Chart.Operator, values.Chart.Values, defaults.Defaults.Digest = "another", "v2", "another", "another"
	cases := map[string]struct {
		asked  Basis
		record *livestate.Record
		want   Parts
	}{
		"nothing":                           {set, recordOf(set, ""), Parts{}},
		"nothing without defaults":          {plain, recordOf(plain, ""), Parts{}},
		"a chart":                           {chart, recordOf(set, ""), Parts{Chart: true}},
		"an operator":                       {operator, recordOf(set, ""), Parts{Chart: true}},
		"values of watches.yaml":            {values, recordOf(set, ""), Parts{Chart: true}},
		"defaults":                          {set, recordOf(plain, ""), Parts{Defaults: true}},
		"other defaults":                    {defaults, recordOf(set, ""), Parts{Defaults: true}},
		"that defaults are gone":            {plain, recordOf(set, ""), Parts{Defaults: true}},
		"all to a record of long ago":       {set, &livestate.Record{}, both},
		"the chart to a record of long ago": {plain, &livestate.Record{}, Parts{Chart: true}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := test.asked.New(test.record); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestLabelsOfRecords(t *testing.T) {
	many := health.Replicas{Available: 1 << 30, New: 1 << 30}
	values := []string{plain.Begin(1, start, many).String(), set.Begin(1<<62, start, many).String()}
	for _, value := range set.Labels() {
		values = append(values, value)
	}
	for _, value := range values {
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			t.Errorf("%q cannot be a label: %v", value, problems)
		}
	}
	if _, there := plain.Labels()["app.example.com/defaults"]; there {
		t.Error("a record names defaults that there are none of")
	}
}
