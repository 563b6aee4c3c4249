package plugin

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/tree"
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
func (s *cli) outputFlag(cmd *cobra.Command, value *string, formats []string) {
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
func (s *cli) printTree(root *tree.Node, output string, now time.Time) error {
	if output != asText {
		return s.printData(root, output)
	}
	return root.Print(s.Out, s.paintState, now, width(s.Out))
}

// printData prints a value as JSON or YAML.
func (s *cli) printData(value any, output string) error {
	printed, err := json.MarshalIndent(value, "", "  ")
	if err == nil && output == asYAML {
		printed, err = asYAMLText(value)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(s.Out, strings.TrimSuffix(string(printed), "\n"))
	return err
}

// asYAMLText returns a value as YAML. If it has characters that are not printed as they are, it is JSON, which is YAML,
// too: in the strings of JSON, escapes mean the same.
func asYAMLText(value any) ([]byte, error) {
	printed, err := json.MarshalIndent(value, "", "  ")
	if err != nil || bytes.IndexFunc(printed, text.IsControl) >= 0 {
		return append(printed, '\n'), err
	}
	return yaml.JSONToYAML(printed)
}

// comment returns a text as a comment of YAML, in one line: with a line break, the rest would be YAML.
func comment(of string) string { return "# " + text.Line(of) }

// paintState returns a text in the color of a state.
func (s *cli) paintState(state tree.State, text string) string {
	looks := map[tree.State]style{
		tree.StateReady: green, tree.StateWaiting: yellow, tree.StateWarning: yellow, tree.StateFailed: red,
	}
	if look, painted := looks[state]; painted {
		return s.paint(s.Out, look, text)
	}
	return text
}
