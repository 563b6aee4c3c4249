package cli

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/policy"
	"github.com/example/appservice-operator/internal/validate"
)

func validateCommand(s *shell) *cobra.Command {
	v := &validation{shell: s, platforms: map[schema.GroupVersionKind]*validate.Platform{}}
	cmd := &cobra.Command{
		Use:   "validate -f FILE",
		Short: "Check offline whether a cluster would accept resources",
		Long: "Validate checks resources like the API server (unknown fields, schema, rules), with the same messages, and like the operator: bounds, the\n" +
			"chart, Pod Security, and the platform's policy from --policy, or the operator's default policy. It reads no cluster, so it cannot find missing\n" +
			"objects, and knows only the labels of namespaces in --namespace-labels. It exits with 1 if a resource would be refused.",
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
	flags.StringVar(&v.charts, "chart-dir", "", "folder with helm-charts and config/crd, like the operator's (default: the built-in ones)")
	flags.StringVar(&v.policy, "policy", "", "file with the platform's policy, like the operator's --policy (default: the operator's default policy)")
	flags.StringToStringVar(&v.labels, "namespace-labels", nil, "labels of the namespace, for policies that select namespaces by label")
	_ = cmd.MarkFlagRequired("filename") // the flag exists
	s.outputFlag(cmd, &v.output, []string{asText, asJSON})
	return cmd
}

type validation struct {
	*shell
	files          []string
	charts, policy string
	labels         map[string]string
	output         string

	served    *served
	rules     *policy.Policy
	platforms map[schema.GroupVersionKind]*validate.Platform
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

func (v *validation) run(cmd *cobra.Command) error {
	documents, err := v.documents(v.files)
	if err != nil {
		return err
	}
	if v.served, err = chartsIn(v.charts); err != nil {
		return err
	}
	v.rules = policy.Default()
	if v.policy != "" {
		text, err := os.ReadFile(v.policy)
		if err == nil {
			v.rules, err = policy.Read(v.policy, text)
		}
		if err != nil {
			return err
		}
	}
	refusals, checked := []refusal{}, 0
	for _, d := range documents {
		platform, err := v.platform(d.GroupVersionKind())
		if err != nil {
			return err
		}
		if platform == nil {
			if problem := v.misnamed(d.GroupVersionKind()); problem != nil {
				checked++
				refusals = append(refusals, v.refused(d, *problem))
				continue
			}
			_, _ = fmt.Fprintf(v.ErrOut, "%s: %s is skipped: the operator does not serve its kind\n", d.at(), strings.TrimSpace(d.GetKind()+" "+d.GetName()))
			continue
		}
		checked++
		for _, problem := range platform.Check(cmd.Context(), d.Text, d.GetNamespace()) {
			refusals = append(refusals, v.refused(d, problem))
		}
	}
	_, _ = fmt.Fprintf(v.ErrOut, "%d resources, %d problems\n", checked, len(refusals))
	if v.output == asJSON {
		encoder := json.NewEncoder(v.Out)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(map[string]any{"problems": refusals}); err != nil {
			return err
		}
	}
	if len(refusals) > 0 {
		return errFound
	}
	return nil
}

// platform returns the checks for resources of a kind; nil if the kind is not served.
func (v *validation) platform(kind schema.GroupVersionKind) (*validate.Platform, error) {
	if known, there := v.platforms[kind]; there {
		return known, nil
	}
	renderer := v.served.Renderers[kind]
	if renderer == nil {
		return nil, nil
	}
	config := configOf(shipped)
	if v.charts != "" {
		config = configOf(os.DirFS(v.charts))
	}
	d, err := definitionOf(config, kind)
	if err != nil {
		return nil, err
	}
	v.platforms[kind] = &validate.Platform{Definition: d, Renderer: renderer, Policy: v.rules, Labels: v.labels}
	return v.platforms[kind], nil
}

// misnamed returns the problem of a kind that is not served although its group is the operator's; nil for kinds of other groups.
func (v *validation) misnamed(kind schema.GroupVersionKind) *validate.Problem {
	var known []string
	for served := range v.served.Renderers {
		if served.Group == kind.Group {
			known = append(known, served.GroupVersion().String()+" "+served.Kind)
		}
	}
	if known == nil {
		return nil
	}
	slices.Sort(known)
	return &validate.Problem{Field: "kind", Line: 1, Message: fmt.Sprintf("no matches for kind %q in version %q: there is %s", kind.Kind, kind.GroupVersion(), strings.Join(known, ", "))}
}

// refused returns a problem for the JSON output, and prints it if the output is text.
func (v *validation) refused(d document, of validate.Problem) refusal {
	out := refusal{File: d.File, Line: d.Line + max(0, of.Line-1), Column: of.Column, Kind: d.GetKind(), Name: d.GetName(), Field: of.Field, Message: of.Message}
	if v.output == asText {
		place := fmt.Sprintf("%s:%d", d.shown(), out.Line)
		if of.Column > 0 {
			place += fmt.Sprintf(":%d", of.Column)
		}
		_, _ = fmt.Fprintf(v.Out, "%s: %s %s: %s\n%s\n", v.paint(v.Out, bold, place), out.Kind, out.Name, of.Message, d.excerpt(of.Line, of.Column))
	}
	return out
}
