package lifetime

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

var created = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func resource(kind string, ttl any) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{}}}
	object.SetGroupVersionKind(v1.GroupVersion.WithKind(kind))
	object.SetCreationTimestamp(metav1.NewTime(created))
	if ttl != nil {
		object.Object["spec"].(map[string]any)["ttl"] = ttl
	}
	return object
}

func TestLifetime(t *testing.T) {
	const second = time.Second
	cases := map[string]struct {
		ttl          any
		age          time.Duration
		over, ending bool
		next         time.Duration // age then; 0 for never
	}{
		"a fresh one":                    {"10m", 0, false, false, 9 * time.Minute},
		"before the warning":             {"10m", 9*time.Minute - second, false, false, 9 * time.Minute},
		"at the warning":                 {"10m", 9 * time.Minute, false, true, 10 * time.Minute},
		"before the end":                 {"10m", 10*time.Minute - second, false, true, 10 * time.Minute},
		"at the end":                     {"10m", 10 * time.Minute, true, true, 0},
		"after it":                       {"10m", 48 * time.Hour, true, true, 0},
		"an hour before the end of days": {"72h", 71*time.Hour - second, false, false, 71 * time.Hour},
		"within the hour":                {"72h", 71 * time.Hour, false, true, 72 * time.Hour},
		"of several units":               {"1h30m30s", 0, false, false, 90*time.Minute + 30*second - 9*time.Minute - 3*second},
		"the shortest":                   {"1m", 54 * second, false, true, time.Minute},
		"no end":                         {nil, 1000 * time.Hour, false, false, 0},
		"an empty text":                  {"", 1000 * time.Hour, false, false, 0},
		"what is too short":              {"59s", 1000 * time.Hour, false, false, 0},
		"what is negative":               {"-1h", 1000 * time.Hour, false, false, 0},
		"what is not a time":             {"soon", 1000 * time.Hour, false, false, 0},
		"what is not a string":           {int64(5), 1000 * time.Hour, false, false, 0},
		"a clock that is behind":         {"10m", -time.Hour, false, false, 9 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l, now := Of(resource(v1.Kind, tc.ttl)), created.Add(tc.age)
			if got := l.Over(now); got != tc.over {
				t.Errorf("over is %v", got)
			}
			if got := l.Ending(now); got != tc.ending {
				t.Errorf("ending is %v", got)
			}
			var want time.Time
			if tc.next != 0 {
				want = created.Add(tc.next)
			}
			if got := l.Next(now); !got.Equal(want) {
				t.Errorf("the next look is at %v, want %v", got, want)
			}
		})
	}
}

func TestWhatHasNoEnd(t *testing.T) {
	if l := Of(resource("Other", "1m")); l != (Lifetime{}) {
		t.Errorf("of another kind, spec belongs to the chart: got %v", l)
	}
	unborn := resource(v1.Kind, "1m")
	unborn.SetCreationTimestamp(metav1.Time{})
	if l := Of(unborn); l != (Lifetime{}) || l.Over(created) {
		t.Errorf("what was never created: got %v", l)
	}
}
