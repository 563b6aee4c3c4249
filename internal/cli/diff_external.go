package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/cli/preview"
)

// externalDiff is the environment variable that names an external diff program, as for kubectl diff.
const externalDiff = "KUBECTL_EXTERNAL_DIFF"

// runExternalDiff runs a program that compares two folders with the objects that differ. Exit code 1 is not an error,
// as for diff.
func (s *shell) runExternalDiff(ctx context.Context, program string, diffs []*preview.Diff) error {
	dir, err := os.MkdirTemp("", "appservice-diff-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	before, after := filepath.Join(dir, "BEFORE"), filepath.Join(dir, "AFTER")
	for _, folder := range []string{before, after} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			return err
		}
	}
	for _, diff := range diffs {
		for _, change := range diff.Changes {
			if err := writeObject(before, change.Old); err != nil {
				return err
			}
			if err := writeObject(after, change.New); err != nil {
				return err
			}
		}
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

// writeObject writes an object to its own file, and none for nil. The content of Secrets is hidden.
func writeObject(dir string, object *unstructured.Unstructured) error {
	if object == nil {
		return nil
	}
	text, err := asYAMLText(hideContent(object).Object)
	if err != nil {
		return err
	}
	kind := object.GroupVersionKind()
	name := strings.Join([]string{kind.Group, kind.Version, kind.Kind, object.GetNamespace(), object.GetName()}, ".")
	return os.WriteFile(filepath.Join(dir, strings.TrimPrefix(name, ".")), text, 0o600)
}
