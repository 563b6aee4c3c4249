package plugin

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/engine/text"
	"github.com/example/appservice-operator/internal/plugin/preview"
)

// externalDiff is the environment variable that names an external diff program, as for kubectl diff.
const externalDiff = "KUBECTL_EXTERNAL_DIFF"

// runExternalDiff runs a program that compares two folders with the objects that differ. Exit code 1 is not an error,
// as for diff.
func (s *cli) runExternalDiff(ctx context.Context, program string, diffs []*preview.Diff) error {
	dir, err := os.MkdirTemp("", "appservice-diff-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	before, after := filepath.Join(dir, "BEFORE"), filepath.Join(dir, "AFTER")
	var old, rendered []*unstructured.Unstructured
	for _, diff := range diffs {
		for _, change := range diff.Changes {
			old, rendered = append(old, change.Old), append(rendered, change.New)
		}
	}
	if err := errors.Join(writeObjects(before, old), writeObjects(after, rendered)); err != nil {
		return err
	}
	words := strings.Fields(program)
	//nolint:gosec // the user names the program
	command := exec.CommandContext(ctx, words[0], append(words[1:], before, after)...)
	command.Stdout, command.Stderr = raw(s.Out), raw(s.ErrOut)
	var ended *exec.ExitError
	if err := command.Run(); err != nil && (!errors.As(err, &ended) || ended.ExitCode() > 1) {
		return fmt.Errorf("%s=%q: %w", externalDiff, program, err)
	}
	return nil
}

// writeObjects writes each object to its own file in a new folder, and none for nil. The content of Secrets is hidden.
// Names are those of files and charts of others: no file is written outside of the folder.
func writeObjects(dir string, objects []*unstructured.Unstructured) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()
	for _, object := range objects {
		if object == nil {
			continue
		}
		content, err := asYAMLText(hideContent(object).Object)
		if err != nil {
			return err
		}
		kind := object.GroupVersionKind()
		name := strings.Join([]string{kind.Group, kind.Version, kind.Kind, object.GetNamespace(), object.GetName()}, ".")
		err = root.WriteFile(strings.TrimPrefix(name, "."), []byte(text.Visible(string(content))), 0o600)
		if err != nil {
			return fmt.Errorf("cannot write %s %q of namespace %q to a file of this name: correct metadata.name and metadata.namespace: %w",
				kind.Kind, object.GetName(), object.GetNamespace(), err)
		}
	}
	return nil
}
