package plugin

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/plugin/tree"
)

func whyCommand(s *cli) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:        "why NAME",
		SuggestFor: []string{"describe", "explain"},
		Short:      "Explain the state of an AppService, and what to do",
		Long: "Why prints a tree of problems: from the conditions to objects, pods, their last output and a hint. It also shows what is held back and until\n" +
			"when, and the origin of relevant values: the spec, the defaults of the namespace or of the platform, or the chart.\n\n" +
			"Pods are examined now, with the operator's own rules; everything else is the status that the operator last wrote. The role \"view\" is\n" +
			"sufficient; anything that you may not read is listed. It exits with 1 if the AppService is not ready.",
		Example: `# the problems of an AppService
kubectl appservice why web

# as JSON
kubectl appservice why appservice/web -o json`,
		Args:              oneName,
		ValidArgsFunction: s.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := s.findings(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			if err := s.printTree(tree.Why(found), output, found.Now); err != nil {
				return err
			}
			return ifFound(!tree.Well(found))
		},
	}
	s.outputFlag(cmd, &output, reportFormats)
	return cmd
}

func treeCommand(s *cli) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "tree NAME",
		Short: "List the objects of an AppService, down to its pods",
		Long: "Tree lists the objects of an AppService in the order in which they are applied, with the objects that controllers created for them, the pods,\n" +
			"and the state of each. The role \"view\" is sufficient; anything that you may not read is listed.",
		Example: `# all objects of an AppService
kubectl appservice tree web

# as YAML
kubectl appservice tree web -o yaml`,
		Args:              oneName,
		ValidArgsFunction: s.completeNames,
		RunE: func(cmd *cobra.Command, args []string) error {
			found, err := s.findings(cmd.Context(), args[0], true)
			if err != nil {
				return err
			}
			return s.printTree(tree.Tree(found), output, found.Now)
		},
	}
	s.outputFlag(cmd, &output, reportFormats)
	return cmd
}

// findings collects the findings about the resource that an argument names.
func (s *cli) findings(ctx context.Context, argument string, everything bool) (*tree.Findings, error) {
	name, err := s.resourceName(argument)
	if err != nil {
		return nil, err
	}
	reader, err := s.client()
	if err != nil {
		return nil, err
	}
	mapper, err := s.kube.ToRESTMapper()
	if err != nil {
		return nil, err
	}
	collector := tree.Collector{Reader: reader, Mapper: mapper, Now: time.Now}
	found, err := collector.Collect(ctx, name.Kind, name.NamespacedName, everything)
	if apierrors.IsNotFound(err) {
		return nil, name.unread(err)
	}
	if err != nil {
		return nil, err
	}
	found.Chart = s.chartOf(name, found)
	return found, nil
}

// chartOf returns the values of the chart that rendered a resource if it is the built-in one; else nil.
func (s *cli) chartOf(name resourceName, found *tree.Findings) map[string]any {
	charts, err := chartsIn("")
	if err != nil || charts.Renderers[name.Kind] == nil || found.Status.Release == nil {
		return nil
	}
	renderer := charts.Renderers[name.Kind]
	if livestate.ShortDigest(renderer.Identity().Digest) != found.Status.Release.ChartDigest {
		return nil
	}
	return renderer.Chart.Values
}
