package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// The fields that a chart declares are in its values.yaml between these lines, for readers and for Helm itself, which does not read fields.yaml.
const (
	begin = "# What fields.yaml declares. This is written by make generate, up to the end of it.\n"
	end   = "# The end of what fields.yaml declares.\n"
)

// writeValues updates values.yaml in the folder of a chart with the fields that the chart declares, and returns its content.
func writeValues(dir string, declared *fields.File) (map[string]any, error) {
	file := filepath.Join(dir, "values.yaml")
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	text, err := withBlock(string(old), declared)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if text != string(old) {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return nil, err
		}
	}
	return parsed(file, []byte(text))
}

func parsed(file string, text []byte) (map[string]any, error) {
	content, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var values map[string]any
	return values, utiljson.Unmarshal(content, &values)
}

// withBlock returns a values.yaml with the declared fields. Values outside of the block stay, and take precedence.
func withBlock(old string, declared *fields.File) (string, error) {
	before, rest, found := strings.Cut(old, begin)
	after := ""
	if found {
		if _, after, found = strings.Cut(rest, end); !found {
			return "", fmt.Errorf("it lacks the line %q", strings.TrimSpace(end))
		}
	}
	own, err := parsed("what is written by hand", []byte(before+after))
	if err != nil {
		return "", err
	}
	var block strings.Builder
	if declared != nil {
		for _, name := range fields.Names(declared.Spec) {
			if _, there := own[name]; !there {
				printValue(&block, "", name, fields.Property(declared.Spec, name))
			}
		}
	}
	if block.Len() == 0 {
		return strings.TrimRight(before, "\n") + "\n" + after, nil
	}
	if before = strings.TrimRight(before, "\n"); before != "" {
		before += "\n\n"
	}
	return before + begin + block.String() + end + after, nil
}

// printValue prints the default of a field. A field without a default is a comment.
func printValue(out *strings.Builder, indent, name string, s *props) {
	for i, line := range strings.Split(fields.Description(s), "\n") {
		mark := "# -- "
		if i > 0 {
			mark = "#    "
		}
		fmt.Fprintf(out, "%s%s%s\n", indent, mark, line)
	}
	value := fields.ByDefault(s)
	nested, _ := value.(map[string]any)
	switch {
	case value == nil:
		fmt.Fprintf(out, "%s# %s:\n", indent, name)
	case s.Default == nil && len(s.Properties) > 0 && fields.Defaulted(s) && len(nested) > 0:
		fmt.Fprintf(out, "%s%s:\n", indent, name)
		for _, child := range fields.Names(s) {
			printValue(out, indent+"  ", child, fields.Property(s, child))
		}
	default:
		text, _ := yaml.Marshal(value) // it came from YAML
		text = bytes.TrimSpace(text)
		if list, _ := value.([]any); len(list) > 0 || len(nested) > 0 {
			lines := bytes.ReplaceAll(text, []byte("\n"), []byte("\n"+indent+"  "))
			fmt.Fprintf(out, "%s%s:\n%s  %s\n", indent, name, indent, lines)
			return
		}
		fmt.Fprintf(out, "%s%s: %s\n", indent, name, text)
	}
}
