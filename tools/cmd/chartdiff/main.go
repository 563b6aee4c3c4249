// Command chartdiff shows what a change of the charts does to resources: it renders each with the old and with the new chart, hooks
// included, and prints what differs: "make chart-diff".
//
// The resources are the golden cases, or, with CLUSTER=current, all that live in the cluster of your kubeconfig, which are only read.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/example/appservice-operator/internal/plugin/preview"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/toolchain"
)

// errFail says that resources which could be rendered no longer can.
var errFail = errors.New("the new charts cannot render all that the old ones could")

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chart-diff:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("chart-diff", flag.ContinueOnError)
	flags.SetOutput(stderr)
	from := flags.String("old", "HEAD", "the old charts: a commit, or a folder that has helm-charts in it")
	to := flags.String("new", "", "the new charts (default: those of the working tree)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	if *to == "" {
		*to = root
	}
	before, err := load(ctx, root, *from)
	if err != nil {
		return fmt.Errorf("the old charts: %w", err)
	}
	after, err := load(ctx, root, *to)
	if err != nil {
		return fmt.Errorf("the new charts: %w", err)
	}
	current, err := controlplane.CurrentWanted()
	if err != nil {
		return err
	}
	var found *findings
	if current {
		found, err = inCluster(ctx, stderr, before, after)
	} else {
		found, err = cases(root)
	}
	if err != nil {
		return err
	}
	return compareAll(ctx, stdout, before, after, found)
}

// compareAll prints a report for each kind, and returns an error if something can no longer be rendered.
func compareAll(ctx context.Context, out io.Writer, before, after *preview.Charts, found *findings) error {
	failed := false
	capabilities := found.capabilities
	if capabilities == nil {
		capabilities = preview.Serving(before, after)
	}
	for _, kind := range preview.Kinds(before, after) {
		fleet, err := preview.FleetOf(ctx, kind, found.subjects[kind], nil, before, after, capabilities)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(out, fleet.String()); err != nil {
			return err
		}
		failed = failed || fleet.Fail > 0
	}
	if failed {
		return errFail
	}
	return nil
}
