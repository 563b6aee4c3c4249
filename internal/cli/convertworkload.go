package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/chart"
	"github.com/example/appservice-operator/internal/cli/conversion"
	"github.com/example/appservice-operator/internal/cli/preview"
	"github.com/example/appservice-operator/internal/controller/release"
	"github.com/example/appservice-operator/internal/render"
)

// converting are the flags of convert-workload.
type converting struct {
	*shell
	inputs
	conversion.Options
	yes     bool
	timeout time.Duration
}

func convertWorkloadCommand(s *shell) *cobra.Command {
	c := &converting{shell: s, inputs: inputs{live: true}}
	cmd := &cobra.Command{
		Use:   "convert-workload -f FILE",
		Short: "Turn the Deployment of an AppService into a StatefulSet, or back",
		Long: "Convert-workload changes an AppService to the one of a file where the API refuses that: spec.statefulSet,\n" +
			"spec.persistence.perReplica or spec.claims[].perReplica are added or removed. Without --yes it writes nothing, and shows what is created,\n" +
			"what stays, what is deleted, and what becomes of each PersistentVolumeClaim. None is ever deleted.\n\n" +
			"With --yes it deletes the AppService without its objects (--cascade=orphan), applies the file with the annotation that adopts them, waits\n" +
			"until the AppService is Ready, and deletes the old workload. Until then, pods of both serve. If it is interrupted, run it again: it continues.\n\n" +
			"It exits with 1 if something prevents the conversion.",
		Example: `# what would become of the AppService web and its data
kubectl appservice convert-workload -f web.yaml

# convert it
kubectl appservice convert-workload -f web.yaml --yes`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return c.run(cmd.Context()) },
	}
	flags := cmd.Flags()
	flags.StringSliceVarP(&c.files, "filename", "f", nil, "file with the changed AppService; - for stdin")
	_ = cmd.MarkFlagFilename("filename", "yaml", "yml", "json") // the flag exists
	c.addCharts(cmd, "")
	flags.StringVar(&c.policy, "policy", "", policyUsage)
	flags.BoolVar(&c.LeaveData, "leave-data", false, "allow that PersistentVolumeClaims with data are not mounted any more")
	flags.BoolVar(&c.StopFirst, "stop-first", false, "stop the old pods before there are new ones: nothing serves meanwhile")
	flags.BoolVar(&c.KeepOld, "keep-old", false, "leave the old workload running, to copy data; run it again without to delete it")
	flags.BoolVar(&c.Suspended, "gitops-suspended", false, "the tool that applies the AppService is suspended")
	flags.BoolVar(&c.yes, "yes", false, "convert it, if nothing prevents that")
	flags.DurationVar(&c.timeout, "timeout", 10*time.Minute, "how long all of it may take")
	return cmd
}

func (c *converting) run(ctx context.Context) error {
	m, actor, result, err := c.mover(ctx)
	if err != nil {
		return err
	}
	found, err := m.show(ctx, actor, result)
	switch {
	case err != nil || found == nil:
		return err
	case len(found.against) > 0:
		return errFound
	case !c.yes:
		_, _ = fmt.Fprintln(c.ErrOut, "nothing was written: --yes converts it")
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	last, err := m.move(ctx)
	if err != nil {
		return err
	}
	return m.conclude(found.State, last)
}

// mover returns what converts the AppService of the file, what tries that, and what the AppService becomes.
func (c *converting) mover(ctx context.Context) (*mover, *release.Actor, *render.Result, error) {
	charts, w, list, err := c.prepared(ctx, &c.inputs, nil)
	if err != nil {
		return nil, nil, nil, err
	}
	if len(list) != 1 || list[0].GroupVersionKind() != appServices {
		return nil, nil, nil, fmt.Errorf("%s: it has to be one %s", strings.Join(c.files, ", "), v1.Kind)
	}
	one := list[0]
	annotate(one.Unstructured, "", false)
	result, err := w.Render(ctx, charts.Renderers[appServices], one.Unstructured, one.released)
	if err != nil {
		return nil, nil, nil, one.failed(err)
	}
	writer, actor, err := c.actor()
	return &mover{converting: c, writer: writer, one: one, Looker: conversion.Looker{Reader: writer,
		Wanted: one.Unstructured, Rendered: result.Objects, Kinds: kindsRendered(charts)}}, actor, result, err
}

// kindsRendered returns the kinds that the chart of AppServices renders.
func kindsRendered(charts *preview.Charts) (kinds []schema.GroupVersionKind) {
	for _, entry := range charts.Watches {
		if entry.GroupVersionKind == appServices {
			return chart.Kinds(entry.Chart)
		}
	}
	return nil
}
