package plugin

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/example/appservice-operator/internal/plugin/preview"
)

// diffOptions are the flags of diff.
type diffOptions struct {
	renderFlags
	from, to string
	against  []string
	all      bool
	output   string
}

func diffCommand(s *cli) *cobra.Command {
	d := &diffOptions{}
	command := &cobra.Command{
		Use:   "diff (-f FILE | NAME | -A)",
		Short: "Show the effects of a change before it is applied",
		Long: "Diff renders resources before and after a change, and prints the consequences first: pods that restart, ports and hosts that are removed, data\n" +
			"that is lost, requests that the API server refuses. The differences follow, by object. The contents of Secrets, ConfigMaps, environment\n" +
			"variables and arguments are not printed.\n\n" +
			"Before the change:\n" +
			"  --live            the last release in the cluster; the default\n" +
			"  --against FILE    the resources of another file or folder\n" +
			"  --from-chart DIR  the same resources with other charts\n" +
			"After the change: the resources of -f, or those of the cluster, with the charts of --to-chart or --chart, or the built-in charts.\n\n" +
			"With -A, all resources of the cluster are compared, and each difference is printed once with the number of resources that have it. If\n" +
			"KUBECTL_EXTERNAL_DIFF names a program, that prints the fields. It exits with 1 if there are differences.",
		Example: `# the effects of applying app.yaml to the cluster
kubectl appservice diff -f app.yaml

# two files, or folders
kubectl appservice diff -f app.yaml --against old.yaml

# a file with two versions of the charts
kubectl appservice diff -f app.yaml --from-chart . --to-chart helm-charts/appservice

# the AppService web in the cluster with another chart
kubectl appservice diff web --live --chart helm-charts/appservice

# all AppServices in the cluster with another chart
kubectl appservice diff --all-namespaces --chart helm-charts/appservice`,
		Annotations:       map[string]string{"offline": "--against --from-chart --to-chart --chart"},
		ValidArgsFunction: s.completeMoreNames,
		RunE: func(command *cobra.Command, names []string) error {
			return s.diff(command.Context(), d, names)
		},
	}
	d.add(command)
	flags := command.Flags()
	flags.StringVar(&d.from, "from-chart", "", "compare with these charts, given as for --chart")
	flags.StringVar(&d.to, "to-chart", "", "render with these charts; the same as --chart")
	flags.StringArrayVar(&d.against, "against", nil, "compare with the resources of these files or folders")
	flags.BoolVarP(&d.all, "all-namespaces", "A", false, "all resources of the cluster")
	s.outputFlag(command, &d.output, []string{asText, asJSON})
	command.MarkFlagsMutuallyExclusive("chart", "to-chart")
	command.MarkFlagsMutuallyExclusive("from-chart", "against")
	command.MarkFlagsMutuallyExclusive("all-namespaces", "filename")
	command.MarkFlagsMutuallyExclusive("all-namespaces", "against")
	return command
}

func (s *cli) diff(ctx context.Context, d *diffOptions, names []string) error {
	if d.to != "" {
		d.charts = d.to
	}
	if d.all && len(names) > 0 {
		return errors.New("set names or --all-namespaces, not both")
	}
	implied := !d.live && d.from == "" && len(d.against) == 0 && d.charts == ""
	d.live = d.live || implied || d.all || len(names) > 0
	after, err := chartsIn(d.charts)
	if err != nil {
		return err
	}
	before := after
	// built-in charts, unless --from-chart is set: used if the last release cannot be read
	if len(d.against) == 0 && d.from != d.charts {
		if before, err = chartsIn(d.from); err != nil {
			return err
		}
	}
	w, err := s.clusterOf(ctx, &d.renderFlags, before, after)
	if err != nil && implied && len(names) == 0 && !d.all {
		return fmt.Errorf("%w; without a cluster: set --against FILE or --from-chart DIR", err)
	}
	if err != nil {
		return err
	}
	if d.all {
		return s.diffFleet(ctx, d, w, before, after)
	}
	diffs, err := s.diffs(ctx, d, w, names, before, after)
	if err != nil {
		return err
	}
	return s.writeDiffs(ctx, d.output, diffs)
}

// diffs returns one diff for each resource.
func (s *cli) diffs(ctx context.Context, d *diffOptions, w *preview.Cluster, names []string, before,
	after *preview.Charts) ([]*preview.Diff, error) {
	subjects, err := s.subjects(ctx, &d.renderFlags, w, after, names)
	if err != nil {
		return nil, err
	}
	var earlier []subject
	if len(d.against) > 0 {
		if earlier, err = s.subjects(ctx, &renderFlags{files: d.against}, w, before, nil); err != nil {
			return nil, err
		}
	}
	outcome := func(of subject, charts *preview.Charts) preview.Outcome {
		return w.Outcome(ctx, charts, of.Unstructured, of.release)
	}
	// one resource in each file is the same one under another name, so names are no difference
	alone := len(subjects) == 1 && len(earlier) == 1
	matched := map[int]bool{}
	var diffs []*preview.Diff
	for _, one := range subjects {
		old, from := one, before
		switch {
		case len(d.against) > 0:
			at := partner(one, earlier, alone)
			if at < 0 {
				old.Unstructured, from = nil, nil
			} else {
				old, matched[at] = earlier[at], true
				if alone {
					old.SetName(one.GetName())
					old.SetNamespace(one.GetNamespace())
				}
			}
		case d.from == "" && d.live:
			diffs = append(diffs, preview.DiffOf(one.name(), running(ctx, w, one, before), outcome(one, after)))
			continue
		}
		diffs = append(diffs, preview.DiffOf(one.name(), outcome(old, from), outcome(one, after)))
	}
	for at, gone := range earlier {
		if !matched[at] {
			diffs = append(diffs, preview.DiffOf(gone.name(), outcome(gone, before), preview.Outcome{}))
		}
	}
	return diffs, nil
}

// partner returns the index of the same resource among others; -1 if it is missing. If alone is set, the kind suffices.
func partner(one subject, others []subject, alone bool) int {
	for at, other := range others {
		same := other.GetNamespace() == one.GetNamespace() && other.GetName() == one.GetName()
		if other.GroupVersionKind() == one.GroupVersionKind() && (alone || same) {
			return at
		}
	}
	return -1
}

// running returns the last release of a resource, or, if there is none or it cannot be read, the rendering of the
// resource as it is in the cluster.
func running(ctx context.Context, w *preview.Cluster, of subject, charts *preview.Charts) preview.Outcome {
	if of.release == nil {
		return w.Outcome(ctx, charts, of.live, nil)
	}
	return of.release.Outcome(of.live)
}

// diffFleet compares all resources of a cluster. It lists them; it makes no request for each resource.
func (s *cli) diffFleet(ctx context.Context, d *diffOptions, w *preview.Cluster, before, after *preview.Charts) error {
	if d.output != asText {
		return fmt.Errorf("--output=%s: with --all-namespaces it can only be %s", d.output, asText)
	}
	var releases preview.Releases
	var err error
	if d.from == "" {
		if releases, err = w.Releases(ctx); err != nil {
			return err
		}
	}
	found := false
	for _, kind := range preview.Kinds(before, after) {
		subjects, err := w.Subjects(ctx, kind, before, after)
		if err != nil {
			return err
		}
		fleet, err := preview.FleetOf(ctx, kind, subjects, releases, before, after, w.Capabilities)
		if err != nil {
			return err
		}
		if _, err := io.WriteString(s.Out, fleet.String()); err != nil {
			return err
		}
		found = found || !fleet.Empty()
	}
	return ifFound(found)
}

// writeDiffs prints the differences, and returns errFound if there are any.
func (s *cli) writeDiffs(ctx context.Context, output string, diffs []*preview.Diff) error {
	found := false
	reports := []preview.Report{}
	external := os.Getenv(externalDiff)
	for _, diff := range diffs {
		found = found || !diff.Empty()
		reports = append(reports, diff.Report())
		if output == asJSON {
			continue
		}
		// the summary counts them
		if len(diffs) > 1 && diff.Empty() {
			continue
		}
		if err := s.writeDiff(s.Out, diff, external == ""); err != nil {
			return err
		}
	}
	switch {
	case output == asJSON:
		if err := s.printData(reports, output); err != nil {
			return err
		}
	case external != "" && found:
		if err := s.runExternalDiff(ctx, external, diffs); err != nil {
			return err
		}
	}
	if output == asText && len(diffs) > 1 {
		if _, err := fmt.Fprintln(s.Out, summaryOf(diffs)); err != nil {
			return err
		}
	}
	return ifFound(found)
}

// looks are the styles of lines of a diff on terminals.
var looks = map[preview.Mark]style{
	preview.Head: bold, preview.Consequent: red, preview.Comes: green, preview.Goes: red, preview.Differs: yellow,
	preview.Explanation: dim,
}

func (s *cli) writeDiff(out io.Writer, diff *preview.Diff, fields bool) error {
	lines := diff.Lines()
	if !fields {
		lines = slices.DeleteFunc(lines, func(line preview.Line) bool { return line.Mark == preview.FieldOf })
	}
	return s.writeLines(out, lines)
}

// writeLines prints lines in the styles of their marks.
func (s *cli) writeLines(out io.Writer, lines []preview.Line) error {
	for _, line := range lines {
		text := line.Text
		if look, has := looks[line.Mark]; has {
			text = s.paint(out, look, text)
		}
		if _, err := fmt.Fprintln(out, text); err != nil {
			return err
		}
	}
	return nil
}

// summaryOf returns the last line of the output for several resources.
func summaryOf(diffs []*preview.Diff) string {
	change, restart, refused := 0, 0, 0
	for _, diff := range diffs {
		if !diff.Empty() {
			change++
		}
		if diff.Has(preview.Restarts) {
			restart++
		}
		if diff.Has(preview.Refused) {
			refused++
		}
	}
	text := fmt.Sprintf("%d resources: %d change, %d restart pods", len(diffs), change, restart)
	if refused > 0 {
		text += fmt.Sprintf(", %d will be refused", refused)
	}
	return text
}
