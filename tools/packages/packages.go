// Package packages installs packages of Debian, or of Ubuntu.
package packages

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/example/appservice-operator/tools/processes"
)

// Ensure installs the packages of programs and files that are missing: wanted has programs by name, or files by path, with
// the package of each. It needs root.
func Ensure(ctx context.Context, progress io.Writer, wanted map[string]string) error {
	lacking := missing(wanted)
	if len(lacking) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("it needs what the packages %s of Debian hold: install it by hand", strings.Join(lacking, ", "))
	}
	_, _ = fmt.Fprintf(progress, "installing packages: %s ...\n", strings.Join(lacking, " "))
	install := append([]string{"install", "--yes", "--no-install-recommends"}, lacking...)
	if err := apt(ctx, install...); err != nil {
		// The list of packages may be missing, or older than the packages.
		if err := apt(ctx, "update"); err != nil {
			return err
		}
		if err := apt(ctx, install...); err != nil {
			return err
		}
	}
	if lacking := missing(wanted); len(lacking) > 0 {
		return fmt.Errorf("packages %s do not hold what they do in Debian: install it by hand", strings.Join(lacking, ", "))
	}
	_, _ = fmt.Fprintln(progress, "installed packages")
	return nil
}

// missing returns the packages of programs and files that are missing.
func missing(wanted map[string]string) []string {
	var list []string
	for what, name := range wanted {
		_, err := exec.LookPath(what)
		if strings.Contains(what, "/") {
			_, err = os.Stat(what)
		}
		if err != nil && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

func apt(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, "apt-get", append([]string{"--quiet", "--quiet"}, args...)...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	_, err := processes.Output(command)
	return err
}
