package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/history"
)

func historyCommand(s *cli) *cobra.Command {
	var output string
	var number int
	cmd := &cobra.Command{
		Use:   "history NAME",
		Short: "List the recorded releases of an AppService and their changes",
		Long: "History lists the recorded releases, the newest last: the time (UTC), the chart, the field manager that changed the spec, and the changes. Records\n" +
			"are Secrets in the namespace, so you need the right to list Secrets. The operator's flag --history-max sets how many are kept. With --revision,\n" +
			"it also lists the Jobs that ran once for a release, as its release task, and how they ended.",
		Example: `# all recorded releases
kubectl appservice history web

# one of them, with all changes and its spec
kubectl appservice history web --revision 1

# as JSON
kubectl appservice history web -o json`,
		Args:              oneName,
		ValidArgsFunction: s.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, _, list, err := s.released(cmd.Context(), args[0])
			switch {
			case err != nil:
				return err
			case number != 0:
				return s.printRevision(args[0], list, number, output)
			case output != asText:
				return s.printData(list, output)
			}
			return s.printHistory(list)
		},
	}
	s.outputFlag(cmd, &output, reportFormats)
	cmd.Flags().IntVar(&number, "revision", 0, "show this revision only, with all its changes, its runs and its spec")
	return cmd
}

// released reads the resource that an argument names, and its recorded releases. It also returns the client that read
// them.
func (s *cli) released(ctx context.Context,
	argument string) (client.Client, *unstructured.Unstructured, []history.Revision, error) {
	name, err := s.resourceName(argument)
	if err != nil {
		return nil, nil, nil, err
	}
	c, err := s.client()
	if err != nil {
		return nil, nil, nil, err
	}
	resource, err := name.read(ctx, c)
	if err != nil {
		return nil, nil, nil, err
	}
	list, err := history.List(ctx, c, resource)
	return c, resource, list, err
}

// printHistory prints a line for each release.
func (s *cli) printHistory(list []history.Revision) error {
	if len(list) == 0 {
		_, err := fmt.Fprintln(s.ErrOut, "nothing was released yet")
		return err
	}
	rows := make([][]string, 0, len(list))
	for _, revision := range list {
		released := ""
		if !revision.Released.IsZero() {
			released = revision.Released.Format(time.DateTime)
		}
		rows = append(rows, []string{fmt.Sprint(revision.Revision), released, revision.Status, revision.Chart,
			revision.ChangedBy, inShort(revision)})
	}
	heading := []string{"REVISION", "RELEASED", "STATUS", "CHART", "CHANGED BY", "CHANGES"}
	return printTable(s.Out, width(s.Out), 2, heading, rows)
}

// inShort summarizes the changes of a release in one line.
func inShort(revision history.Revision) string {
	if revision.Unreadable != "" {
		return "the record is damaged: " + revision.Unreadable
	}
	if len(revision.Changes) == 0 {
		return revision.Description
	}
	text, notes := revision.Changes[0], []string{}
	if more := len(revision.Changes) - 1; more > 0 {
		notes = append(notes, fmt.Sprintf("and %d more", more))
	}
	if revision.Restarts && !strings.Contains(text, "restarts pods") { // a change of an object says so
		notes = append(notes, "restarts pods")
	}
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	return text
}

// printRevision prints one release with all its changes and its spec.
func (s *cli) printRevision(name string, list []history.Revision, number int, output string) error {
	at := slices.IndexFunc(list, func(r history.Revision) bool { return r.Revision == number })
	if at < 0 {
		return fmt.Errorf("revision %d of %s is not kept: kubectl appservice history %s lists those that are", number,
			name, name)
	}
	revision := list[at]
	if output != asText {
		return s.printData(revision, output)
	}
	if err := s.printHistory(list[at : at+1]); err != nil {
		return err
	}
	out := strings.Builder{}
	for _, change := range revision.Changes {
		fmt.Fprintf(&out, "  %s\n", text.Line(change))
	}
	if revision.Failed != "" {
		fmt.Fprintf(&out, "  the release before failed: %s\n", text.Line(revision.Failed))
	}
	for _, run := range revision.Runs {
		fmt.Fprintf(&out, "  Job %s: %s\n", text.Line(run.Job), text.Line(cmp.Or(string(run.Result), "Running")))
	}
	if revision.Spec != nil {
		spec, err := asYAMLText(map[string]any{"spec": revision.Spec})
		if err != nil {
			return err
		}
		fmt.Fprintf(&out, "\n%s", spec)
	}
	_, err := fmt.Fprint(s.Out, out.String())
	return err
}
