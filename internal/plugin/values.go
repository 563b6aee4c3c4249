package plugin

import (
	"github.com/spf13/cobra"

	"github.com/example/appservice-operator/internal/plugin/preview"
)

func valuesCommand(s *cli) *cobra.Command {
	in, origins, output := &renderFlags{}, false, asYAML
	command := &cobra.Command{
		Use:   "values (-f FILE | NAME) [--show-origin]",
		Short: "Show the values of a chart's templates, and the origin of each",
		Long: "Values prints .Values as templates see it. With --show-origin, each value has a comment with its origin: the spec, the ConfigMap\n" +
			"appservice-defaults of the namespace, defaultValues or overrideValues of watches.yaml, or the chart. Offline it makes no request;\n" +
			"--defaults reads the defaults of a namespace from a file, --live from the cluster.",
		Example: `# all values with their origins
kubectl appservice values -f app.yaml --show-origin

# with the defaults of a namespace
kubectl appservice values -f app.yaml --defaults defaults.yaml --show-origin

# of the AppService web in the cluster
kubectl appservice values web --live --show-origin`,
		Annotations:       map[string]string{"offline": "true"},
		ValidArgsFunction: s.completeMoreNames,
		RunE: func(command *cobra.Command, names []string) error {
			return s.values(command, in, names, origins, output)
		},
	}
	in.add(command)
	command.Flags().BoolVar(&origins, "show-origin", false, "print the origin of each value")
	s.outputFlag(command, &output, []string{asYAML, asJSON})
	return command
}

func (s *cli) values(command *cobra.Command, in *renderFlags, names []string, origins bool, output string) error {
	ctx := command.Context()
	charts, w, subjects, err := s.prepare(ctx, in, names)
	if err != nil {
		return err
	}
	for _, one := range subjects {
		renderer := charts.Renderers[one.GroupVersionKind()]
		in, err := w.Input(ctx, one.Unstructured)
		if err != nil {
			return one.wrap(err)
		}
		list, err := preview.ValuesOf(ctx, renderer, in)
		if err != nil {
			return one.wrap(err)
		}
		if err := s.writeValues(one.document, list, origins, output, len(subjects) > 1); err != nil {
			return err
		}
	}
	return nil
}

func (s *cli) writeValues(of document, list []preview.Value, origins bool, output string, several bool) error {
	if output == asJSON {
		return s.printData(list, output)
	}
	text, err := preview.ValuesYAML(list, origins)
	if err != nil {
		return err
	}
	if several {
		text = append([]byte("---\n# "+of.name()+"\n"), text...)
	}
	_, err = s.Out.Write(text)
	return err
}
