package main

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
)

var here = Machine{CPU: "Fast", Cores: 2, Kernel: "linux 6.1", Go: "go1.26"}

// written is a file with the results of an earlier run.
func written(t *testing.T, results *Results) string {
	t.Helper()
	data, err := json.Marshal(results)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "results.json")
	files.Write(t, path, string(data))
	return path
}

func TestOnlyResultsOfTheSameMachineAreReused(t *testing.T) {
	cases := map[string]struct {
		change  func(*Results)
		letters string
		reused  string // letters
		fails   string
	}{
		"the same machine":           {func(*Results) {}, "abcde", "cd", ""},
		"another version of Go":      {func(r *Results) { r.Machine.Go = "go1.27" }, "abcde", "cd", ""},
		"one peer takes part":        {func(*Results) {}, "bce", "c", ""},
		"no peer takes part":         {func(*Results) {}, "abe", "", "no results of the stock peers"},
		"another CPU":                {func(r *Results) { r.Machine.CPU = "Slow" }, "abcde", "", "made on 2 × Slow"},
		"more cores":                 {func(r *Results) { r.Machine.Cores = 8 }, "abcde", "", "made on 8 × Fast"},
		"another kernel":             {func(r *Results) { r.Machine.Kernel = "linux 6.2" }, "abcde", "", "linux 6.2"},
		"another number":             {func(r *Results) { r.N = 20 }, "abcde", "", "it has 20 AppServices"},
		"other objects":              {func(r *Results) { r.Objects = 4 }, "abcde", "", "of 4 objects"},
		"it has none of the peers":   {func(r *Results) { r.Contenders = r.Contenders[:2] }, "abcde", "", "no results of the stock peers"},
		"it was reused there itself": {func(r *Results) { r.Contenders[2].Reused = "earlier still" }, "abcde", "cd", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			results := &Results{Date: "yesterday", Machine: here, N: 10, Objects: objectsEach}
			for _, letter := range []string{"a", "b", "c", "d", "e"} {
				results.Contenders = append(results.Contenders, &Result{Letter: letter, Title: letter})
			}
			tc.change(results)
			b := &bench{settings: settings{n: 10, letters: tc.letters, reuse: written(t, results)}}
			found, err := b.earlier(here)
			if tc.fails != "" {
				assert.ErrorContains(t, err, tc.fails)
				return
			}
			require.NoError(t, err)
			assert.EqualValues(t, tc.reused, strings.Join(slices.Sorted(maps.Keys(found)), ""))
			want := "yesterday"
			if results.Contenders[2].Reused != "" {
				want = results.Contenders[2].Reused
			}
			if got := found["c"].name(); got != "(c) c, reused from "+want {
				t.Errorf("got %q, want that it is from %s", got, want)
			}
		})
	}
}

func TestResultsWithoutAMachineAreNotReused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.json")
	files.Write(t, path, `{"machine": "2 × something"}`)
	if _, err := (&bench{settings: settings{n: 10, letters: "c", reuse: path}}).earlier(here); err == nil {
		t.Error("they were")
	}
}

func TestEverythingIsMeasuredUnlessReuseIsAskedFor(t *testing.T) {
	found, err := (&bench{settings: settings{letters: "abcde"}}).earlier(here)
	if err != nil || len(found) != 0 {
		t.Errorf("got %v and error %v", found, err)
	}
}
