package status

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

var created = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func mortal(kind string, ttl any) *unstructured.Unstructured {
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
		announced    time.Duration // age
		over, ending bool
		next         time.Duration // age then; 0 for never
	}{
		"a fresh one":                    {"10m", 0, 10 * time.Minute, false, false, 9 * time.Minute},
		"before the warning":             {"10m", 9*time.Minute - second, 10 * time.Minute, false, false, 9 * time.Minute},
		"at the warning":                 {"10m", 9 * time.Minute, 10 * time.Minute, false, true, 10 * time.Minute},
		"before the end":                 {"10m", 10*time.Minute - second, 10 * time.Minute, false, true, 10 * time.Minute},
		"at the end":                     {"10m", 10 * time.Minute, 10 * time.Minute, true, true, 0},
		"after it":                       {"10m", 48 * time.Hour, 10 * time.Minute, true, true, 0},
		"an hour before the end of days": {"72h", 71*time.Hour - second, 72 * time.Hour, false, false, 71 * time.Hour},
		"within the hour":                {"72h", 71 * time.Hour, 72 * time.Hour, false, true, 72 * time.Hour},
		"of several units":               {"1h30m30s", 0, 90*time.Minute + 30*second, false, false, 90*time.Minute + 30*second - 9*time.Minute - 3*second},
		"the shortest":                   {"1m", 54 * second, time.Minute, false, true, time.Minute},
		"no end":                         {nil, 1000 * time.Hour, 0, false, false, 0},
		"an empty text":                  {"", 1000 * time.Hour, 0, false, false, 0},
		"what is too short":              {"59s", 1000 * time.Hour, 0, false, false, 0},
		"what is negative":               {"-1h", 1000 * time.Hour, 0, false, false, 0},
		"what is not a time":             {"soon", 1000 * time.Hour, 0, false, false, 0},
		"what is not a string":           {int64(5), 1000 * time.Hour, 0, false, false, 0},
		"a clock that is behind":         {"10m", -time.Hour, 10 * time.Minute, false, false, 9 * time.Minute},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := created.Add(tc.age)
			l := LifetimeOf(mortal(v1.Kind, tc.ttl), &metav1.Time{Time: created.Add(tc.announced)}, now)
			assert.Equal(t, tc.over, l.Over(now), "over")
			assert.Equal(t, tc.ending, l.Ending(now), "ending")
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

func TestAnEndIsAnnouncedBefore(t *testing.T) {
	const minute = time.Minute
	at := func(age time.Duration) *metav1.Time { return &metav1.Time{Time: created.Add(age)} }
	cases := map[string]struct {
		ttl       string
		age       time.Duration
		announced *metav1.Time
		ends      time.Duration
	}{
		"from the creation on":                    {"10m", 0, nil, 10 * minute},
		"in time":                                 {"10m", 9 * minute, nil, 10 * minute},
		"added to an old one":                     {"10m", 60 * minute, nil, 61 * minute},
		"added to an old one, a long time":        {"72h", 100 * time.Hour, nil, 101 * time.Hour},
		"added within the notice":                 {"10m", 9*minute + 30*time.Second, nil, 10*minute + 30*time.Second},
		"added to an old one, and announced":      {"10m", 60*minute + 30*time.Second, at(61 * minute), 61 * minute},
		"announced, and over":                     {"10m", 90 * minute, at(61 * minute), 61 * minute},
		"announced by a version before, and over": {"10m", 90 * minute, at(10 * minute), 10 * minute},
		"made shorter":                            {"10m", 60 * minute, at(72 * 60 * minute), 61 * minute},
		"made shorter, but not over":              {"10m", minute, at(72 * 60 * minute), 10 * minute},
		"made longer, and not announced":          {"80m", 90 * minute, at(61 * minute), 98 * minute},
		"made longer":                             {"120m", 90 * minute, at(61 * minute), 120 * minute},
		"not in whole seconds":                    {"10m", 60*minute + time.Millisecond, nil, 61*minute + time.Second},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := created.Add(tc.age)
			l := LifetimeOf(mortal(v1.Kind, tc.ttl), tc.announced, now)
			if got := l.End().Sub(created); got != tc.ends {
				t.Fatalf("it ends at the age of %s, want %s", got, tc.ends)
			}
			later := now.Add(time.Second) // once that is announced, it stays
			if got := LifetimeOf(mortal(v1.Kind, tc.ttl), at(tc.ends), later); !got.End().Equal(l.End()) {
				t.Errorf("a second later, it ends at the age of %s", got.End().Sub(created))
			}
		})
	}
}

func TestAnotherVersionOfTheKindHasTheSameEnd(t *testing.T) {
	other := mortal(v1.Kind, "1m")
	other.SetAPIVersion(v1.GroupVersion.Group + "/v9")
	if got, want := LifetimeOf(other, nil, created), LifetimeOf(mortal(v1.Kind, "1m"), nil, created); got != want || got == (Lifetime{}) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestWhatHasNoEnd(t *testing.T) {
	if l := LifetimeOf(mortal("Other", "1m"), nil, created); l != (Lifetime{}) {
		t.Errorf("of another kind, spec belongs to the chart: got %v", l)
	}
	unborn := mortal(v1.Kind, "1m")
	unborn.SetCreationTimestamp(metav1.Time{})
	if l := LifetimeOf(unborn, nil, created); l != (Lifetime{}) || l.Over(created) {
		t.Errorf("what was never created: got %v", l)
	}
}
