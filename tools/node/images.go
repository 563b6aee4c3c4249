package node

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

// load imports the archive of an image.
func (i *instance) load(ctx context.Context, archive string) error {
	_, err := i.ctr(ctx, "images", "import", archive)
	return err
}

// ctr talks to containerd, about what is Kubernetes' in it.
func (i *instance) ctr(ctx context.Context, args ...string) (string, error) {
	return processes.Output(exec.CommandContext(ctx, i.programs["ctr"], append([]string{"--address", i.socket(), "--namespace", "k8s.io"}, args...)...))
}

// loadPause builds and imports the image that every pod needs.
func (i *instance) loadPause(ctx context.Context) error {
	archive := i.path("pause.tar")
	if err := BuildImage(ctx, "-out", archive, "pause"); err != nil {
		return err
	}
	return i.until(ctx, func(ctx context.Context) error { return i.load(ctx, archive) })
}

// BuildImage runs tools/images. A relative path in the arguments starts there.
func BuildImage(ctx context.Context, args ...string) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, "go", append([]string{"run", "."}, args...)...)
	command.Dir = filepath.Join(root, "tools", "images")
	command.Env = append(os.Environ(), "PWD="+command.Dir, "GOWORK=off", "CGO_ENABLED=0")
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	if _, err := processes.Output(command); err != nil {
		return fmt.Errorf("cannot build image (%s): %w", strings.Join(args, " "), err)
	}
	return nil
}
