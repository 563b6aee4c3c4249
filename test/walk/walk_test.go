//go:build cluster

// Package walk takes AppServices on random walks over the CRD's schema, with other writers in between, on a real API server.
// However an AppService got to its last spec, it must end like one that was made with it.
//
// A walk follows from a seed and a number alone: -seed, -walk, -steps and -keep replay it, or a part of it. Specs are made as
// test/contract makes them, and of the cases in test/testdata. Fields that may differ at the end are listed in history_test.go, with reasons.
package walk

import (
	"context"
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/part"
)

var (
	seed   = flag.Uint64("seed", 1, "the seed of all walks")
	walks  = flag.Int("walks", 4, "how many walks")
	steps  = flag.Int("steps", 8, "how many steps a walk has")
	only   = flag.Int("walk", -1, "take this walk only")
	keep   = flag.String("keep", "", "take these steps only, for example 0,3,4")
	among  = flag.String("writers", "", "a regular expression: only others of such names write")
	shrink = flag.Bool("shrink", false, "find a shorter walk that fails, too")
)

var cluster *harness.Cluster

func TestMain(m *testing.M) {
	flag.Parse()
	harness.Log()
	harness.Main("appservice-walk", func(_ context.Context, started *harness.Cluster) (int, error) {
		cluster = started
		code := m.Run()
		fmt.Println(taken.summary())
		return code, nil
	})
}

// TestWalks takes the walks, several at once.
func TestWalks(t *testing.T) {
	var g *generator
	require.NoError(t, try.Catch(func() { g = newGenerator() }))
	for _, kind := range []string{"gateway.networking.k8s.io_httproutes", "gateway.networking.k8s.io_grpcroutes", "gateway.networking.k8s.io_listenersets",
		"keda.sh_scaledobjects", "monitoring.coreos.com_servicemonitors"} {
		cluster.Install(t, files.CRD(t, "test/testdata/fixtures/crds/"+kind+".yaml")) // which the chart renders
	}
	numbers, kept := wanted(t)
	fmt.Printf("walks of seed %d, %d steps each\n", *seed, *steps)
	for _, number := range numbers {
		t.Run(strconv.Itoa(number), func(t *testing.T) {
			t.Parallel()
			plan := g.plan(*seed, uint64(number), *steps)
			chosen := kept
			if chosen == nil {
				chosen = all(*steps)
			}
			failure := attempt(t, plan, chosen)
			if failure == nil {
				return
			}
			if *shrink {
				patience = 20 * time.Second // of what fails, too
				chosen, failure = shorter(t, plan, chosen, failure)
			}
			t.Errorf("%v\n\nThe walk:\n%s\nReplay it with\n  go test -tags cluster ./test/walk -run TestWalks -seed=%d -steps=%d -writers=%q -walk=%d -keep=%s",
				failure, plan.print(chosen), *seed, *steps, *among, number, join(chosen))
		})
	}
}

// wanted are the numbers of the walks, and the steps that are kept: nil for all.
func wanted(t *testing.T) (numbers, kept []int) {
	t.Helper()
	numbers = slices.DeleteFunc(all(*walks), func(number int) bool { return !part.Has(number) })
	if *only >= 0 {
		numbers = []int{*only}
	}
	if *keep == "" {
		return numbers, nil
	}
	for _, text := range strings.Split(*keep, ",") {
		index, err := strconv.Atoi(text)
		if err != nil || index < 0 || index >= *steps {
			t.Fatalf("-keep=%s: %q is not a step", *keep, text)
		}
		kept = append(kept, index)
	}
	return numbers, kept
}

func all(count int) []int {
	list := make([]int, count)
	for i := range list {
		list[i] = i
	}
	return list
}

func join(list []int) string {
	texts := make([]string, len(list))
	for i := range list {
		texts[i] = strconv.Itoa(list[i])
	}
	return strings.Join(texts, ",")
}
