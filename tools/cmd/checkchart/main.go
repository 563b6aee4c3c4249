// Command checkchart checks the charts that the operator serves against the rules of internal/cli/lint, with all golden cases: "make check-chart", or
// with CHART=helm-charts/NAME those of one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"

	"github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/chart/rbac"
	"github.com/example/appservice-operator/internal/cli/lint"
	"github.com/example/appservice-operator/tools/checkchart"
	"github.com/example/appservice-operator/tools/toolchain"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "check-chart:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("check-chart", flag.ContinueOnError)
	only := flags.String("chart", "", "the chart to check, as watches.yaml names it (default: all)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, "watches.yaml"))
	if err != nil {
		return err
	}
	files := os.DirFS(root)
	list, _, err := chart.ReadWatches(text, files)
	if err != nil {
		return err
	}
	granted, err := rbac.ReadGranted(files)
	if err != nil {
		return err
	}
	checked, mistakes := 0, 0
	for _, entry := range list {
		if *only != "" && path.Clean(*only) != path.Clean(entry.ChartPath) {
			continue
		}
		checked++
		cases, err := checkchart.Cases(root, entry.GroupVersionKind)
		if err != nil {
			return err
		}
		found, err := lint.Check(ctx, lint.Subject{
			Files: files, Dir: entry.ChartPath, Kind: entry.GroupVersionKind, Overrides: entry.OverrideValues, Cases: cases, Granted: granted,
		})
		if err != nil {
			return err
		}
		for _, mistake := range found {
			fmt.Fprintf(out, "%s\n", mistake)
		}
		mistakes += len(found)
		if len(found) == 0 {
			fmt.Fprintf(out, "%s: %d cases of %s render, the same each time\n", entry.ChartPath, len(cases), entry.Kind)
		}
	}
	switch {
	case checked == 0:
		return fmt.Errorf("watches.yaml names no chart %s", *only)
	case mistakes == 1:
		return errors.New("1 mistake")
	case mistakes > 1:
		return fmt.Errorf("%d mistakes", mistakes)
	}
	return nil
}
