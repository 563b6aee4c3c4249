package plugin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

func validateCommand(s *cli) *cobra.Command {
	v := &validateOptions{cli: s, definitions: map[schema.GroupVersionKind]*crd.Definition{}}
	cmd := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Check whether a cluster would accept resources",
		Long: "Validate checks resources like the API server (unknown fields, schema, rules), with the same messages, and like the\n" +
			"operator: limits, the chart, Pod Security, and the platform's policy from --policy, or the operator's built-in policy shared, with the\n" +
			"defaults of the platform and of --defaults beneath the spec. It makes no request, and knows only the labels of namespaces in\n" +
			"--namespace-labels. With --live, it reads the defaults and labels of namespaces, and the kinds that are served, from the\n" +
			"cluster. It does not report missing objects. It exits with 1 if a resource would be refused.",
		Example: `# a file, a folder, or - for stdin
kubectl appservice validate -f app.yaml

# with the platform's policy
kubectl appservice validate -f app.yaml --policy config/samples/tenant/policy.yaml -n shop

# as JSON
kubectl appservice validate -f config/samples/full.yaml -o json`,
		Annotations: map[string]string{"offline": "true"},
		Args:        cobra.NoArgs,
		RunE:        func(cmd *cobra.Command, _ []string) error { return v.run(cmd) },
	}
	flags := cmd.Flags()
	flags.StringArrayVarP(&v.files, "filename", "f", nil, "files or folders with resources; - for stdin")
	v.addCharts(cmd, "")
	flags.Lookup(chartFlag).Usage = "folder with helm-charts and config/crd, like the operator's --chart-dir (default: the built-in ones)"
	flags.StringToStringVar(&v.labels, "namespace-labels", nil,
		"labels of the namespace, for policies that select namespaces by label")
	v.addCluster(cmd)
	_ = cmd.MarkFlagRequired("filename") // the flag exists
	s.outputFlag(cmd, &v.output, []string{asText, asJSON})
	cmd.MarkFlagsMutuallyExclusive("live", "namespace-labels")
	return cmd
}

type validateOptions struct {
	*cli
	renderFlags
	labels map[string]string
	output string

	definitions map[schema.GroupVersionKind]*crd.Definition
}

// refusal is a problem of a resource in the JSON output.
type refusal struct {
	File    string `json:"file"`
	Line    int    `json:"line"`
	Column  int    `json:"column,omitempty"`
	Kind    string `json:"kind"`
	Name    string `json:"name"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
}

func (v *validateOptions) run(cmd *cobra.Command) error {
	charts, err := chartsIn(v.charts)
	if err != nil {
		return err
	}
	w, err := v.clusterOf(cmd.Context(), &v.renderFlags, charts)
	if err != nil {
		return err
	}
	w.Labels = v.labels
	documents, err := v.documents(v.files)
	if err != nil {
		return err
	}
	refusals, checked := []refusal{}, 0
	for _, d := range documents {
		renderer := charts.Renderers[d.GroupVersionKind()]
		if renderer == nil {
			// a kind of the operator's group that it does not serve is a mistake, others may be in the same file
			if problem := misnamed(charts, d.GroupVersionKind()); problem != nil {
				checked++
				refusals = append(refusals, v.refused(d, *problem))
				continue
			}
			_, _ = fmt.Fprintf(v.ErrOut, "%s: %s is skipped: the operator does not serve its kind\n", d.at(),
				text.Line(d.GetKind()+" "+d.GetName()))
			continue
		}
		checked++
		admission, err := v.definition(d.GroupVersionKind())
		if err != nil {
			return err
		}
		for _, problem := range w.Check(cmd.Context(), renderer, admission, d.Text, d.GetNamespace()) {
			refusals = append(refusals, v.refused(d, problem))
		}
	}
	_, _ = fmt.Fprintf(v.ErrOut, "%d %s, %d %s\n", checked, text.Agree(checked, "resource", "resources"), len(refusals),
		text.Agree(len(refusals), "problem", "problems"))
	if v.output == asJSON {
		encoder := json.NewEncoder(v.Out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(map[string]any{"problems": refusals}); err != nil {
			return err
		}
	}
	return ifFound(len(refusals) > 0)
}

// definition returns the definition of a kind; nil if there is none.
func (v *validateOptions) definition(kind schema.GroupVersionKind) (d *crd.Definition, err error) {
	if known, there := v.definitions[kind]; there {
		return known, nil
	}
	config := configOf(builtInFiles)
	if v.charts != "" {
		files, err := folder(v.charts)
		if err != nil {
			return nil, err
		}
		config = configOf(files)
	}
	v.definitions[kind], err = definitionOf(config, kind)
	return v.definitions[kind], err
}

// misnamed returns the problem of a kind that is not served although its group is the operator's; nil for kinds of
// other groups.
func misnamed(charts *preview.Charts, kind schema.GroupVersionKind) *preview.Problem {
	var known []string
	for served := range charts.Renderers {
		if served.Group == kind.Group {
			known = append(known, served.GroupVersion().String()+" "+served.Kind)
		}
	}
	if known == nil {
		return nil
	}
	slices.Sort(known)
	return &preview.Problem{Field: "kind", Line: 1,
		Message: fmt.Sprintf("no matches for kind %q in version %q: the served version is %s", kind.Kind, kind.GroupVersion(),
			strings.Join(known, ", "))}
}

// refused returns a problem for the JSON output, and prints it if the output is text.
func (v *validateOptions) refused(d document, of preview.Problem) refusal {
	out := refusal{File: d.File, Line: d.Line + max(0, of.Line-1), Column: of.Column, Kind: d.GetKind(), Name: d.GetName(),
		Field: of.Field, Message: of.Message}
	if v.output == asText {
		place := fmt.Sprintf("%s:%d", d.shown(), out.Line)
		if of.Column > 0 {
			place += fmt.Sprintf(":%d", of.Column)
		}
		line := fmt.Sprintf("%s: %s %s: %s", place, text.Line(out.Kind), text.Line(out.Name), text.Line(of.Message))
		line = wrapped(line, width(v.Out), "  ")
		if rest, whole := strings.CutPrefix(line, place); whole { // else blanks in the name of the file broke it
			line = v.paint(v.Out, bold, place) + rest
		}
		_, _ = fmt.Fprintf(v.Out, "%s\n%s\n", line, d.excerpt(of.Line, of.Column))
	}
	return out
}
