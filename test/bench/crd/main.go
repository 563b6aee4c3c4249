// Command crd measures what a write of an AppService costs the API server: its CPU time, by the kernel, and what it
// allocates, by its metrics. Each write is done of a small and of a full object, to the same CRD with and without its
// rules, and to a Deployment beside it. All writes of a round are done in turn on one connection, while no controller
// runs; the results are medians of all rounds. See docs/benchmarks.md.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"text/tabwriter"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/test/connect"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/toolchain"
)

func main() {
	log.SetLogger(logr.Discard())
	testing.Init()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	if err := try.Catch(func() { run(ctx) }); err != nil {
		fmt.Fprintln(os.Stderr, "bench-crd:", err)
		os.Exit(1)
	}
}

// cost of one request.
type cost struct {
	Milliseconds float64 `json:"milliseconds"`
	KiB          float64 `json:"kib"`
}

// row is one kind of write of one object.
type row struct {
	Object string          `json:"object"`
	Write  string          `json:"write"`
	Costs  map[string]cost `json:"costs"` // by variant, medians
	// Least and Most are the milliseconds of all rounds.
	Least, Most map[string]float64
}

func run(ctx context.Context) {
	requests, rounds := number("REQUESTS", 200), number("ROUNDS", 11)
	root := try.Get(toolchain.Root())
	name := "bench-crd"
	try.Do(controlplane.Down(ctx, name))
	cluster := try.Get(controlplane.Up(ctx, controlplane.Options{Name: name, Nodes: 1, Progress: os.Stdout}))
	defer func() { _ = controlplane.Down(context.WithoutCancel(ctx), name) }()
	config, api := try.Get2(connect.To(cluster.Kubeconfig))
	b := &bench{client: api, config: config, requests: requests, root: root}
	b.server = try.Get(apiServer(ctx, filepath.Dir(cluster.Kubeconfig)))
	b.prepare(ctx)
	all := map[string]map[string][]cost{} // by object and write, then by variant
	err := try.Catch(func() {
		try.Do(cluster.Without(ctx, "kube-controller-manager", func() {
			for round := range rounds {
				fmt.Printf("round %d of %d\n", round+1, rounds)
				for key, costs := range b.round(ctx, round) {
					if all[key] == nil {
						all[key] = map[string][]cost{}
					}
					for variant, found := range costs {
						all[key][variant] = append(all[key][variant], found)
					}
				}
			}
		}))
	})
	if len(all) == 0 {
		try.Do(err)
	}
	report(root, requests, rounds, all)
	try.Do(err)
	try.Do(flag.Set("test.benchtime", "20ms"))
	b.costsOfRules()
}

func number(variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	value, err := strconv.Atoi(text)
	if err != nil || value < 1 {
		try.Fail("cannot use %s=%s: it has to be a number of 1 or more", variable, text)
	}
	return value
}

// report prints the table, and writes bin/bench/crd.json.
func report(root string, requests, rounds int, all map[string]map[string][]cost) {
	var rows []row
	for _, object := range objects {
		for _, write := range writes {
			costs := all[object+"/"+write]
			if costs == nil {
				continue
			}
			r := row{Object: object, Write: write, Costs: map[string]cost{}, Least: map[string]float64{}, Most: map[string]float64{}}
			for variant, found := range costs {
				milliseconds, kib := sorted(found, func(c cost) float64 { return c.Milliseconds }), sorted(found, func(c cost) float64 { return c.KiB })
				r.Costs[variant] = cost{milliseconds[len(milliseconds)/2], kib[len(kib)/2]}
				r.Least[variant], r.Most[variant] = milliseconds[0], milliseconds[len(milliseconds)-1]
			}
			rows = append(rows, r)
		}
	}
	fmt.Printf("\nCPU of the API server for one request in ms (and KiB allocated), medians of %d rounds of %d requests\n\n", rounds, requests)
	table := tabwriter.NewWriter(os.Stdout, 0, 4, 2, ' ', 0)
	fmt.Fprintln(table, "object\twrite\t"+strings.Join(variants, "\t")+"\tall / none")
	for _, r := range rows {
		fmt.Fprintf(table, "%s\t%s", r.Object, r.Write)
		for _, variant := range variants {
			c, found := r.Costs[variant]
			if !found {
				fmt.Fprint(table, "\t–")
				continue
			}
			fmt.Fprintf(table, "\t%.1f [%.1f–%.1f] (%.0f)", c.Milliseconds, r.Least[variant], r.Most[variant], c.KiB)
		}
		fmt.Fprintf(table, "\t%.2f\n", r.Costs["all"].Milliseconds/r.Costs["none"].Milliseconds)
	}
	try.Do(table.Flush())
	folder := filepath.Join(root, "bin", "bench")
	try.Do(os.MkdirAll(folder, 0o755))
	try.Do(os.WriteFile(filepath.Join(folder, "crd.json"), try.Get(json.MarshalIndent(rows, "", "  ")), 0o600))
}

func sorted(costs []cost, of func(cost) float64) (values []float64) {
	for _, c := range costs {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values
}
