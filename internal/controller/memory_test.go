package controller

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/render"
)

var (
	appService = v1.GroupVersion.WithKind(v1.Kind)
	start      = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

func TestTheTimeBetweenFailedAttemptsDoubles(t *testing.T) {
	var f failure
	now := start
	for attempt, want := range []time.Duration{5, 10, 20, 40, 80, 120, 120, 120, 120, 120, 120, 120} {
		if got := f.again(now, 1, false); got != want*time.Second {
			t.Errorf("after attempt %d: got %s, want %s", attempt+1, got, want*time.Second)
		}
		now = now.Add(want * time.Second)
		if wait := f.wait(now, 1); wait != 0 {
			t.Errorf("when the time is over after attempt %d, it waits for another %s", attempt+1, wait)
		}
	}
	for range 200 {
		if got := f.again(now, 1, false); got != lastRetry {
			t.Fatalf("after very many attempts: got %s, want %s", got, lastRetry)
		}
	}
	if got := f.again(now, 2, false); got != firstRetry {
		t.Errorf("at the first attempt of a new generation: got %s, want %s", got, firstRetry)
	}
	if got := f.again(now, 2, false); got != 2*firstRetry {
		t.Errorf("at the second attempt of a new generation: got %s, want %s", got, 2*firstRetry)
	}
}

func TestWaitAfterAFailure(t *testing.T) {
	cases := map[string]struct {
		attempts   int
		after      time.Duration // since the last attempt
		generation int64
		want       time.Duration
	}{
		"nothing failed":                                     {0, 0, 1, 0},
		"a change right after the first attempt":             {1, 0, 1, 5 * time.Second},
		"a change 2 s after the first attempt":               {1, 2 * time.Second, 1, 3 * time.Second},
		"the timer of the first attempt":                     {1, 5 * time.Second, 1, 0},
		"a change 2 s after the eighth attempt":              {8, 2 * time.Second, 1, 3 * time.Second},
		"a change 5 s after the eighth attempt":              {8, 5 * time.Second, 1, 0},
		"a change 60 s after the eighth attempt":             {8, 60 * time.Second, 1, 0},
		"the timer of the eighth attempt":                    {8, 2 * time.Minute, 1, 0},
		"a new generation right after the eighth attempt":    {8, 0, 2, 0},
		"an earlier generation right after the last attempt": {8, 0, 0, 0}, // the resource was made anew
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var f failure
			for range test.attempts {
				f.again(start, 1, false)
			}
			if got := f.wait(start.Add(test.after), test.generation); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// However many changes there are, attempts are never closer than the first retry, and none is put off.
func TestAStormOfChangesDoesNotMakeAStormOfAttempts(t *testing.T) {
	var f failure
	last, attempts := start, 0
	due := start
	for now := start; now.Before(start.Add(time.Hour)); now = now.Add(100 * time.Millisecond) {
		if f.wait(now, 1) > 0 {
			continue
		}
		if attempts > 0 && now.Sub(last) < firstRetry {
			t.Fatalf("attempt %d came %s after the one before", attempts, now.Sub(last))
		}
		if attempts > 0 && now.After(due) {
			t.Fatalf("attempt %d came at %s, later than %s", attempts, now.Sub(start), due.Sub(start))
		}
		attempts++
		last, due = now, now.Add(f.again(now, 1, false))
	}
	if want := int(time.Hour / firstRetry); attempts != want {
		t.Errorf("got %d attempts in an hour, want %d", attempts, want)
	}
}

func app(uid, resourceVersion string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "app.example.com/v1", "kind": "AppService"}}
	o.SetNamespace("demo")
	o.SetName("web")
	o.SetUID(types.UID(uid))
	o.SetResourceVersion(resourceVersion)
	o.SetGeneration(1)
	return o
}

func TestNewest(t *testing.T) {
	cases := map[string]struct {
		written, cached string // resource versions
		want            string
		kept            bool
	}{
		"nothing was written":                   {"", "5", "5", false},
		"the cache is behind":                   {"10", "9", "10", true},
		"the cache shows what was written":      {"10", "10", "10", false},
		"the cache is ahead":                    {"10", "11", "11", false},
		"the cache is behind by one digit":      {"1000", "999", "1000", true},
		"the version cannot be compared":        {"x", "9", "9", false},
		"the cached version cannot be compared": {"10", "", "", false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			for by, look := range map[string]func(*memory, *remembered, *unstructured.Unstructured){
				"a reconcile": func(m *memory, known *remembered, cached *unstructured.Unstructured) {
					if got := m.newest(known, cached).GetResourceVersion(); got != test.want {
						t.Errorf("got version %q, want %q", got, test.want)
					}
				},
				"an event": func(m *memory, _ *remembered, cached *unstructured.Unstructured) { m.seen(cached) },
			} {
				m := &memory{}
				known, _ := m.of(app("a", "1"))
				if test.written != "" {
					m.wrote(known, app("a", test.written))
				}
				look(m, known, app("a", test.cached))
				if kept := known.written != nil; kept != test.kept {
					t.Errorf("what was written is remembered after %s: %t, want %t", by, kept, test.kept)
				}
			}
		})
	}
}

func TestMemory(t *testing.T) {
	var m memory
	name := types.NamespacedName{Namespace: "demo", Name: "web"}
	if gone := m.forget(name); len(gone) != 0 {
		t.Errorf("got %v, want none to forget", gone)
	}
	first, _ := m.of(app("a", "1"))
	first.basis.generation = 4
	if again, earlier := m.of(app("a", "2")); again != first || earlier != "" {
		t.Error("the same resource is remembered twice")
	}
	second, earlier := m.of(app("b", "3"))
	if earlier != "a" {
		t.Errorf("got %q as the one before, want a", earlier)
	}
	if second == first || second.basis.generation != 0 {
		t.Error("a resource made anew is taken for the one before")
	}
	if gone := m.forget(name); len(gone) != 1 || gone[0] != "b" {
		t.Errorf("got %v, want b", gone)
	}
	if gone := m.forget(name); len(gone) != 0 {
		t.Errorf("got %v, want none the second time", gone)
	}
	if third, _ := m.of(app("b", "3")); third == second {
		t.Error("what was forgotten is remembered")
	}
}

func TestWhatWasFoundToBeAsDesiredIsNotComparedAgain(t *testing.T) {
	key := func(name string) kube.Key {
		return kube.Key{GroupKind: appService.GroupKind(), Name: name}
	}
	before := map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "8")}
	cases := map[string]struct {
		objects map[kube.Key]client.Object
		want    bool
	}{
		"the very same":        {map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "8")}, true},
		"one in a new version": {map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "9")}, false},
		"one less":             {map[kube.Key]client.Object{key("a"): app("1", "7")}, false},
		"another one":          {map[kube.Key]client.Object{key("a"): app("1", "7"), key("c"): app("2", "8")}, false},
		"one more":             {map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "8"), key("c"): app("3", "9")}, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			m := &remembered{}
			rendered := func(digest string) {
				(&memory{}).rendered(m, &render.Result{Outline: render.Outline{Digest: digest}}, basis{}, postrender.Facts{})
			}
			rendered("a")
			if m.asBefore(test.objects) {
				t.Error("nothing was found yet")
			}
			m.found(before)
			if got := m.asBefore(test.objects); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
			rendered("a")
			if got := m.asBefore(test.objects); got != test.want {
				t.Errorf("got %t after the same was rendered again, want %t", got, test.want)
			}
			rendered("b")
			if m.asBefore(test.objects) {
				t.Error("it counts although something else is desired now")
			}
		})
	}
}
