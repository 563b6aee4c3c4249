// Command reference writes what charts declare in their fields.yaml into docs/reference: further rows of the table of AppService's spec,
// which crd-ref-docs makes of the Go types, a page for each kind that has no Go type; the page of kubectl appservice; and docs/recipes.md, of
// the samples. It brings the output of crd-ref-docs into the order of the spec, with the rules of the CRD and examples. "make generate" runs
// it behind crd-ref-docs:
//
//	go run ./tools/cmd/reference
package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/chart/fields"
	"github.com/example/appservice-operator/tools/toolchain"
)

const folder = "docs/reference"

func main() {
	root, err := toolchain.Root()
	if err == nil {
		err = run(root)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "reference:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	text, err := os.ReadFile(filepath.Join(root, "watches.yaml"))
	if err != nil {
		return err
	}
	list, err := chart.LoadWatches(text, os.DirFS(root))
	if err != nil {
		return err
	}
	if err := commandLine(root); err != nil {
		return err
	}
	page, err := recipes(root)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(root, recipesFile), []byte(page), 0o644); err != nil {
		return err
	}
	for _, watch := range list {
		declared, err := fields.OfFolder(watch.Chart, path.Clean(watch.ChartPath), watch.GroupVersionKind)
		if err != nil {
			return err
		}
		if declared == nil {
			continue
		}
		if err := write(root, watch.GroupVersionKind, declared); err != nil {
			return err
		}
	}
	return arrange(root)
}

func write(root string, kind schema.GroupVersionKind, declared *fields.File) error {
	file := filepath.Join(root, folder, strings.ToLower(kind.Kind)+".md")
	text := page(kind, declared)
	if _, typed := fields.Core(kind); typed {
		old, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if text, err = withRows(string(old), kind.Kind+"Spec", rows(declared.Spec, "")); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

const (
	heading   = "| Field | Description | Default | Validation |\n"
	delimiter = "| --- | --- | --- | --- |\n"
)

// withRows appends rows to the table of a type.
func withRows(text, of string, rows string) (string, error) {
	before, section, found := strings.Cut(text, "#### "+of+"\n")
	above, table, there := strings.Cut(section, heading+delimiter)
	end := strings.Index(table, "\n\n")
	if !found || !there || end < 0 {
		return "", fmt.Errorf("%s has no table: make generate runs crd-ref-docs first", of)
	}
	return before + "#### " + of + "\n" + above + heading + delimiter + table[:end+1] + rows + table[end+1:], nil
}

// page is that of a kind that has no Go type.
func page(kind schema.GroupVersionKind, declared *fields.File) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n<!-- Generated from %s by make generate. Do not edit. -->\n\n", kind.Kind, declared.Path)
	fmt.Fprintf(&out, "`%s`, kind `%s`. ", kind.GroupVersion(), kind.Kind)
	if declared.Kind != nil {
		out.WriteString(declared.Kind.Description)
	}
	out.WriteString("\n\nThe fields of its spec; its status is [that of AppService](appservice.md#appservicestatus).\n\n")
	out.WriteString(heading + delimiter + rows(declared.Spec, ""))
	for i, rule := range declared.Spec.XValidations {
		if i == 0 {
			out.WriteString("\nBesides:\n\n")
		}
		fmt.Fprintf(&out, "- %s\n", strings.TrimSpace(rule.Message+rule.MessageExpression))
	}
	return out.String()
}
