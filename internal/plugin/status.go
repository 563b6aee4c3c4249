package plugin

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/duration"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/operator/policy"
	"github.com/example/appservice-operator/internal/operator/status"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

func statusCommand(s *cli) *cobra.Command {
	var output, kind string
	var everywhere bool
	cmd := &cobra.Command{
		Use:        "status [NAME...]",
		SuggestFor: []string{"get", "list", "ls"},
		Short:      "List AppServices and their status",
		Long: "Status lists AppServices with their phase, their ready replicas, the first problem, and what is held back. Without names it lists all in the\n" +
			"namespace, and with -A all in the cluster. It exits with 0 whatever their status: kubectl appservice why explains problems, and exits with 1.",
		Example: `# all of the namespace
kubectl appservice status

# one, with its image, address and chart
kubectl appservice status web -o wide

# those of all namespaces, as names for another command
kubectl appservice status -A -o name

# of another kind
kubectl appservice status --kind appjob`,
		ValidArgsFunction: s.completeMoreNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			list, err := s.readOrList(cmd.Context(), args, kind, everywhere)
			if err != nil {
				return err
			}
			return s.printStatus(list, output, everywhere, len(args) == 1)
		},
	}
	s.outputFlag(cmd, &output, listFormats)
	cmd.Flags().BoolVarP(&everywhere, "all-namespaces", "A", false, "list AppServices of all namespaces")
	cmd.Flags().StringVar(&kind, "kind", "appservice", "the kind to list, if no names are given")
	_ = cmd.RegisterFlagCompletionFunc("kind", s.completeKinds) // the flag exists
	return cmd
}

// readOrList reads the resources that the arguments name, or lists all of a kind.
func (s *cli) readOrList(ctx context.Context, args []string, kind string,
	everywhere bool) ([]unstructured.Unstructured, error) {
	if everywhere && len(args) > 0 {
		return nil, fmt.Errorf("--all-namespaces lists all, so it takes no names: leave out %s", strings.Join(args, " "))
	}
	reader, err := s.client()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		of, err := s.kind(kind)
		if err != nil {
			return nil, err
		}
		return s.list(ctx, reader, of, everywhere)
	}
	var list []unstructured.Unstructured
	for _, arg := range args {
		name, err := s.resourceName(arg)
		if err != nil {
			return nil, err
		}
		one, err := name.read(ctx, reader)
		if err != nil {
			return nil, err
		}
		list = append(list, *one)
	}
	return list, nil
}

// list lists the resources of a kind, in the namespace or everywhere.
func (s *cli) list(ctx context.Context, reader client.Reader, kind schema.GroupVersionKind,
	everywhere bool) ([]unstructured.Unstructured, error) {
	list := kube.List(kind)
	var options []client.ListOption
	if !everywhere {
		namespace, err := s.namespace()
		if err != nil {
			return nil, err
		}
		options = append(options, client.InNamespace(namespace))
	}
	if err := reader.List(ctx, list, options...); err != nil {
		return nil, fmt.Errorf("cannot list resources of kind %s: %w", kind.Kind, err)
	}
	slices.SortFunc(list.Items, func(a, b unstructured.Unstructured) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
	return list.Items, nil
}

func (s *cli) printStatus(list []unstructured.Unstructured, output string, everywhere, single bool) error {
	switch output {
	case asName:
		for _, one := range list {
			if _, err := fmt.Fprintf(s.Out, "%s.%s/%s\n", strings.ToLower(one.GetKind()), one.GroupVersionKind().Group,
				one.GetName()); err != nil {
				return err
			}
		}
		return nil
	case asJSON, asYAML:
		return s.printData(statusData(list, single), output)
	}
	if len(list) == 0 {
		where, err := s.namespace()
		if where = " in " + where + " namespace"; everywhere {
			where = ""
		}
		_, _ = fmt.Fprintf(s.ErrOut, "No resources found%s.\n", where)
		return err
	}
	return s.printRows(list, output == asWide, everywhere)
}

// statusData returns the JSON and YAML output of status: the names and statuses, as one object if single is set, else
// as items.
func statusData(list []unstructured.Unstructured, single bool) any {
	items := make([]any, 0, len(list))
	for _, one := range list {
		items = append(items, map[string]any{
			"kind": one.GetKind(), "namespace": one.GetNamespace(), "name": one.GetName(), "generation": one.GetGeneration(),
			"status": one.Object["status"],
		})
	}
	if single && len(items) == 1 {
		return items[0]
	}
	return map[string]any{"items": items}
}

func (s *cli) printRows(list []unstructured.Unstructured, wide, everywhere bool) error {
	columns := []string{"NAME", "PHASE", "REPLICAS", "HELD BACK", "AGE", "MESSAGE"}
	if wide {
		columns = []string{"NAME", "PHASE", "REPLICAS", "HELD BACK", "AGE", "CHART", "POLICY", "IMAGE", "URL", "MESSAGE"}
	}
	if everywhere {
		columns = slices.Insert(columns, 0, "NAMESPACE")
	}
	now := time.Now()
	rows := make([][]string, 0, len(list))
	for i := range list {
		one := &list[i]
		current, err := status.Of(one)
		if err != nil {
			return fmt.Errorf("cannot read the status of %s %s: %w", one.GetKind(), one.GetName(), err)
		}
		cells := map[string]string{
			"NAMESPACE": one.GetNamespace(), "NAME": one.GetName(), "PHASE": string(current.Phase),
			"REPLICAS": current.Readiness, "HELD BACK": tree.HeldBack(current, now),
			"AGE": duration.HumanDuration(now.Sub(one.GetCreationTimestamp().Time)), "IMAGE": current.Image, "URL": current.URL,
			// the operator leaves the common one out of the status
			"POLICY": cmp.Or(current.Policy, string(policy.Shared)), "MESSAGE": message(one, current),
		}
		if current.Release != nil {
			cells["CHART"] = current.Release.ChartVersion
		}
		line := make([]string, 0, len(columns))
		for _, column := range columns {
			line = append(line, cmp.Or(cells[column], noValue))
		}
		rows = append(rows, line)
	}
	return printTable(s.Out, width(s.Out), 3, columns, rows)
}

// message returns the column MESSAGE: why a resource is not ready, or its first problem; empty if there is none.
func message(one *unstructured.Unstructured, current *v1.AppServiceStatus) string {
	ready := meta.FindStatusCondition(current.Conditions, v1.ConditionReady)
	switch going := kube.DeletionOf(one); {
	case going != nil:
		return "is being deleted " + going.String()
	case current.ObservedGeneration == 0:
		return "no operator has reconciled this resource yet"
	case current.ObservedGeneration < one.GetGeneration():
		return "the operator has not reconciled the latest spec yet"
	case ready != nil && ready.Status != "True":
		return ready.Reason + ": " + ready.Message
	case len(current.Problems) > 0:
		return current.Problems[0].Reason + ": " + current.Problems[0].Message
	}
	return ""
}
