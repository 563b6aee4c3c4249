package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/cli/tree"
)

// Values of --output.
const (
	asText = "text"
	asWide = "wide"
	asJSON = "json"
	asYAML = "yaml"
	asName = "name"
)

var (
	reportFormats = []string{asText, asJSON, asYAML}
	listFormats   = []string{asText, asWide, asJSON, asYAML, asName}
)

// outputFlag adds the flag --output, and checks its value before the command runs. The default is the first format.
func (s *shell) outputFlag(cmd *cobra.Command, value *string, formats []string) {
	cmd.Flags().StringVarP(value, "output", "o", formats[0], "how to print: "+strings.Join(formats, ", "))
	// the flag exists
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if slices.Contains(formats, *value) {
			return nil
		}
		return fmt.Errorf("--output=%s: it can be %s", *value, strings.Join(formats, ", "))
	}
}

// printTree prints a tree as text, JSON or YAML.
func (s *shell) printTree(root *tree.Node, output string, now time.Time) error {
	if output != asText {
		return s.printData(root, output)
	}
	return root.Print(s.Out, s.paintState, now)
}

// printData prints a value as JSON or YAML.
func (s *shell) printData(value any, output string) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err == nil && output == asYAML {
		text, err = yaml.JSONToYAML(text)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.Out, strings.TrimSuffix(string(text), "\n"))
	return err
}

// paintState returns a text in the color of a state.
func (s *shell) paintState(state tree.State, text string) string {
	looks := map[tree.State]style{
		tree.StateReady: green, tree.StateWaiting: yellow, tree.StateWarning: yellow, tree.StateFailed: red,
	}
	if look, painted := looks[state]; painted {
		return s.paint(s.Out, look, text)
	}
	return text
}
