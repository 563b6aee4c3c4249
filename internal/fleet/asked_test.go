package fleet

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/render"
)

var (
	plain = Asked{Chart: one}
	set   = Asked{Chart: one, Defaults: Defaults{Digest: "89abcdef89abcdef89abcdef89abcdef"}}
	both  = Parts{Chart: true, Defaults: true}
)

// recordOf is a record of what was rendered, with a mark or without.
func recordOf(asked Asked, mark string) *cluster.Record {
	labels := asked.Labels()
	return &cluster.Record{
		RenderedBy: labels["app.example.com/rendered-by"], Defaults: labels["app.example.com/defaults"], Rollout: mark,
	}
}

func TestWhatIsNewToARecord(t *testing.T) {
	chart, operator, values, defaults := set, set, set, set
	chart.Chart.Digest, operator.Chart.Operator, values.Chart.Values, defaults.Defaults.Digest = "another", "v2", "another", "another"
	cases := map[string]struct {
		asked  Asked
		record *cluster.Record
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
		"all to a record of long ago":       {set, &cluster.Record{}, both},
		"the chart to a record of long ago": {plain, &cluster.Record{}, Parts{Chart: true}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := test.asked.New(test.record); got != test.want {
				t.Errorf("got %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestWhatHasBegunToChangeAResource(t *testing.T) {
	chart, defaults := Parts{Chart: true}, Parts{Defaults: true}
	old := Asked{Chart: Chart{Identity: render.Identity{Digest: "old"}}}
	cases := map[string]struct {
		asked   Asked
		record  *cluster.Record
		answers Parts
		begun   bool
	}{
		"nothing":                             {set, recordOf(set, ""), Parts{}, false},
		"no record":                           {set, nil, Parts{}, false},
		"a chart":                             {plain, recordOf(old, plain.Mark(chart, 7)), chart, true},
		"a chart that is recorded":            {plain, recordOf(plain, plain.Mark(chart, 7)), chart, true},
		"a chart beside defaults":             {set, recordOf(old, set.Mark(chart, 7)), chart, true},
		"another chart":                       {plain, recordOf(old, old.Mark(chart, 7)), Parts{}, false},
		"a chart, for an earlier spec":        {plain, recordOf(old, plain.Mark(chart, 6)), Parts{}, false},
		"a chart, and then other defaults":    {set, recordOf(plain, plain.Mark(chart, 7)), chart, false},
		"defaults":                            {set, recordOf(plain, set.Mark(defaults, 7)), defaults, true},
		"the removal of defaults":             {plain, recordOf(set, plain.Mark(defaults, 7)), defaults, true},
		"defaults that are recorded":          {set, recordOf(set, set.Mark(defaults, 7)), defaults, true},
		"both, for which the defaults answer": {set, recordOf(old, set.Mark(both, 7)), defaults, true},
		"both, and then defaults went away":   {plain, recordOf(set, set.Mark(both, 7)), Parts{}, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := test.asked.Answers(test.record, 7); got != test.answers {
				t.Errorf("got that %+v answers for it, want %+v", got, test.answers)
			}
			if got := test.asked.Begun(test.record, 7); got != test.begun {
				t.Errorf("it has begun: %t, want %t", got, test.begun)
			}
		})
	}
}

func TestLabelsOfRecords(t *testing.T) {
	values := []string{set.Mark(both, 1<<62), plain.Mark(both, 1)}
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
