package main

import (
	"math"
	"runtime/debug"
	"testing"

	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

func TestTwoGibibytesRaiseTheSizeOfResources(t *testing.T) {
	for limit, want := range map[string]bool{"2147483648": true, "2000000000": false, "1073741824": false} {
		if got, err := limitOf(limit); err != nil || got >= limits.RaisedMemory != want {
			t.Errorf("%s: the collector may take %d, %v", limit, got, err)
		}
	}
}

func TestTheCollectorKeepsBelowTheLimitOfTheContainer(t *testing.T) {
	before, percent := debug.SetMemoryLimit(-1), debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(percent)
	})
	cases := map[string]struct {
		limit, go_, gogc string
		want             int64
		percent          int
		fails            bool
	}{
		"no limit":                        {"", "", "", math.MaxInt64, collectAt, false},
		"512 MiB":                         {"536870912", "", "", 483183810, collectAt, false},
		"GOMEMLIMIT counts":               {"536870912", "1GiB", "", math.MaxInt64, collectAt, false}, // the runtime has read it
		"GOGC counts":                     {"536870912", "", "80", 483183810, 100, false},
		"a quantity rather than a number": {"512Mi", "", "", math.MaxInt64, collectAt, true},
		"less than nothing":               {"-1", "", "", math.MaxInt64, collectAt, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			debug.SetGCPercent(100)
			t.Setenv(memoryLimit, test.limit)
			t.Setenv("GOMEMLIMIT", test.go_)
			t.Setenv("GOGC", test.gogc)
			if err := tuneCollector(); (err != nil) != test.fails {
				t.Errorf("got %v", err)
			}
			if got := debug.SetMemoryLimit(-1); got != test.want {
				t.Errorf("the limit is %d, want %d", got, test.want)
			}
			if got := debug.SetGCPercent(test.percent); got != test.percent {
				t.Errorf("the collector runs at %d percent, want %d", got, test.percent)
			}
		})
	}
}
