package node

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

// packaged are the programs of the distribution that a node needs, and the packages of Debian and Ubuntu that have them.
func packaged() map[string]string {
	return map[string]string{
		"runc":             "runc",
		"/usr/lib/cni/ptp": "containernetworking-plugins",
		"iptables":         "iptables",
		"conntrack":        "conntrack",
		"ip":               "iproute2",
		"nsenter":          "util-linux",
		"mount":            "mount",
	}
}

// ensurePackages installs what is missing.
func ensurePackages(ctx context.Context, progress io.Writer) error {
	missing := missingPackages()
	if len(missing) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("it needs what the packages %s of Debian hold: install it by hand", strings.Join(missing, ", "))
	}
	_, _ = fmt.Fprintf(progress, "installing packages: %s ...\n", strings.Join(missing, " "))
	install := append([]string{"install", "--yes", "--no-install-recommends"}, missing...)
	if err := apt(ctx, install...); err != nil {
		// The list of packages may be missing, or older than the packages.
		if err := apt(ctx, "update"); err != nil {
			return err
		}
		if err := apt(ctx, install...); err != nil {
			return err
		}
	}
	if missing := missingPackages(); len(missing) > 0 {
		return fmt.Errorf("packages %s do not hold what they do in Debian: install it by hand", strings.Join(missing, ", "))
	}
	_, _ = fmt.Fprintln(progress, "installed packages")
	return nil
}

func missingPackages() []string {
	var missing []string
	for program, name := range packaged() {
		if _, err := exec.LookPath(program); err != nil && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	slices.Sort(missing)
	return missing
}

func apt(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, "apt-get", append([]string{"--quiet", "--quiet"}, args...)...)
	command.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	_, err := processes.Output(command)
	return err
}
