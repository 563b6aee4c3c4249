package limits

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestWhatIsTooLargeIsRefusedWithSizeBoundAndRemedy(t *testing.T) {
	cases := map[string]struct {
		check func(int) error
		most  int
		says  []string
	}{
		"a resource":                    {Bound(0).OfResource, Resource, []string{"49 KiB", "more than 48 KiB", "spec.volumes", "spec.envFrom"}},
		"a published one":               {Published.OfResource, 128 << 10, []string{"129 KiB", "more than 128 KiB"}},
		"a published one with memory":   {PublishedWithMemory.OfResource, 512 << 10, []string{"513 KiB", "more than 512 KiB"}},
		"references":                    {Bound(0).OfReferences, References, []string{"101", "more than 100", "spec.envFrom"}},
		"references of a published one": {Published.OfReferences, 266, []string{"267", "more than 266"}},
		"paths of routes":               {OfRoutePaths, RoutePaths, []string{"129", "more than 128", "several resources"}},
		"what is rendered": {
			func(bytes int) error { return Bound(0).OfRendered(bytes, 1<<10) }, 2*Resource + 1<<10, []string{"98 KiB", "more than 97 KiB", "make the spec smaller"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if err := test.check(test.most); err != nil {
				t.Errorf("as large as it may be: %v", err)
			}
			err := test.check(test.most + 1)
			var refused interface{ Reason() string }
			if !Is(err) || !errors.As(err, &refused) || refused.Reason() != v1.ReasonTooLarge {
				t.Fatalf("got %v, want it refused as too large", err)
			}
			for _, words := range test.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q lacks %q", err, words)
				}
			}
		})
	}
}

func TestOnlySoMuchIsReconciledAtATime(t *testing.T) {
	cases := map[string]struct {
		under []int // way already
		next  int
		waits bool
	}{
		"the first":                        {nil, Resource, false},
		"a second one of the largest":      {[]int{Resource}, Resource, false},
		"a third one":                      {[]int{Resource, Resource}, Resource, true},
		"a small one beside the largest":   {[]int{Resource, Resource}, small, false},
		"one that is too large":            {nil, 100 * Resource, false},
		"one that is too large, not alone": {[]int{small + 1}, 2 * Resource, true},
		"a small one beside one too large": {[]int{2 * Resource}, 1, false},
		"the largest beside one too large": {[]int{Resource + 1}, Resource, true},
		"one beside many small ones":       {make([]int, 100), Resource, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { inFlight(t, test.under, test.next, test.waits) })
		})
	}
	var none *InFlight
	end, err := none.Begin(t.Context(), 100*Resource)
	require.NoError(t, err)
	end()
}

// inFlight begins with resources of these sizes, and then with one more, which waits for them to end or does not.
func inFlight(t *testing.T, under []int, next int, waits bool) {
	f := NewInFlight()
	var ends []func()
	for _, bytes := range under {
		end, err := f.Begin(t.Context(), bytes)
		require.NoError(t, err)
		ends = append(ends, end)
	}
	begun := false
	go func() {
		end, err := f.Begin(t.Context(), next)
		if err != nil {
			t.Error(err)
			return
		}
		begun = true
		end()
	}()
	synctest.Wait()
	if begun == waits {
		t.Errorf("it began: %t", begun)
	}
	for _, end := range ends {
		end()
	}
	synctest.Wait()
	if !begun {
		t.Error("it did not begin when all others were done")
	}
	over, cancel := context.WithCancel(t.Context())
	end, err := f.Begin(over, Resource+1)
	require.NoError(t, err)
	time.AfterFunc(time.Second, cancel)
	if _, err := f.Begin(over, Resource); err == nil {
		t.Error("it began although its time was over")
	}
	end()
}
