package lint

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	helmchart "helm.sh/helm/v3/pkg/chart"
	helmlint "helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"

	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/engine/values"
)

// helm adds the messages of helm lint --strict, with the values of the first case. Helm lints folders only, so the
// chart is written to one.
func (f *findings) helm(ctx context.Context, loaded *helmchart.Chart, subject Subject) error {
	parent, err := os.MkdirTemp("", "lint-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(parent) }()
	dir := filepath.Join(parent, folderName(loaded, subject))
	if err := write(loaded, dir); err != nil {
		return err
	}
	given, namespace := map[string]any{}, "default"
	if len(subject.Cases) > 0 {
		resource := subject.Cases[0].Resource
		namespace = resource.GetNamespace()
		if given, err = values.For(subject.Kind, loaded, subject.Overrides).Translate(ctx, resource); err != nil {
			return nil // rendering has reported it
		}
	}
	for _, message := range helmlint.AllWithKubeVersion(dir, given, namespace, &render.Newest).Messages {
		if message.Severity >= support.WarningSev {
			said := strings.ReplaceAll(text.Line(message.Err.Error()), parent+"/", "")
			f.add(Finding{Rule: ruleOf(ruleHelm), File: strings.TrimSuffix(message.Path, "/"), Message: said})
		}
	}
	return nil
}

// folderName returns the name of the chart's folder, which Helm compares with the chart's name.
func folderName(loaded *helmchart.Chart, subject Subject) string {
	if base := path.Base(path.Clean(subject.Dir)); base != "." && base != "/" {
		return base
	}
	return loaded.Name()
}

// write writes the files of a chart and its subcharts to a folder, without the schema of its values: rendering has
// checked that, and Helm would fetch its references.
func write(c *helmchart.Chart, dir string) error {
	for _, file := range c.Raw {
		if file.Name == "values.schema.json" {
			continue
		}
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
			return err
		}
		if err := os.WriteFile(name, file.Data, 0o600); err != nil {
			return fmt.Errorf("cannot write the chart for helm lint: %w", err)
		}
	}
	for _, dependency := range c.Dependencies() {
		if err := write(dependency, filepath.Join(dir, "charts", dependency.Name())); err != nil {
			return err
		}
	}
	return nil
}
