// Command cluster brings up, ends and uses the project's own control plane. See "go run ./tools/cmd/cluster help".
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/toolchain"
)

const usage = `usage: go run ./tools/cmd/cluster COMMAND

  up           bring up a control plane with simulated nodes, or find the one that is up
  down         end it and delete its state
  env          print the shell commands that point kubectl and others at it
  kubectl ...  run kubectl on it
  build        only provide its programs: find, download or build them

environment: CLUSTER_NAME (default appservice), NODES (default 2), KUBERNETES_VERSION (default ` + toolchain.DefaultKubernetes + `, see tools/pins/kubernetes-*),
APPSERVICE_CACHE (where programs and state are kept), CLUSTER=current (use the cluster of your own kubeconfig instead),
KUBEBUILDER_ASSETS (a folder with programs that are used if they fit), APPSERVICE_MIRROR (downloads programs from this
URL instead of from their publishers; off builds them)
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("cannot guess the command: one of up, down, env, kubectl, build or help")
	}
	if len(args) > 1 && args[0] != "kubectl" {
		return fmt.Errorf("cannot use %q: %s takes no arguments", strings.Join(args[1:], " "), args[0])
	}
	current, err := controlplane.CurrentWanted()
	if err != nil {
		return err
	}
	options, err := controlplane.Options{Progress: stderr}.FillFromEnvironment()
	if err != nil {
		return err
	}
	find := controlplane.Existing
	if current {
		find = controlplane.Current
	}
	switch args[0] {
	case "up":
		return up(ctx, options, stdout)
	case "down":
		return down(ctx, options, current)
	case "env":
		c, err := find(ctx, options)
		if err != nil {
			return err
		}
		_, err = io.WriteString(stdout, toolchain.Exports(c.Kubeconfig, c.Kubectl))
		return err
	case "kubectl":
		c, err := find(ctx, options)
		if err != nil {
			return err
		}
		return kubectl(c, args[1:])
	case "build":
		_, err := controlplane.Programs(ctx, stderr)
		return err
	case "help", "-h", "--help":
		_, err := io.WriteString(stdout, usage)
		return err
	default:
		return fmt.Errorf("cannot run %q: one of up, down, env, kubectl, build or help", args[0])
	}
}

func up(ctx context.Context, options controlplane.Options, stdout io.Writer) error {
	c, err := controlplane.FromEnvironment(ctx, options)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "cluster %s is up. To use it:\n\n%s\nThen: make install, make run. Its pods are simulated and run nothing: an operator of make deploy does not, either.\n",
		c.Name, toolchain.Exports(c.Kubeconfig, c.Kubectl))
	return err
}

func down(ctx context.Context, options controlplane.Options, current bool) error {
	if current {
		return fmt.Errorf("cannot delete the current cluster: it was not made here, see CLUSTER")
	}
	if options.Name == "" {
		options.Name = controlplane.DefaultName
	}
	return controlplane.Down(ctx, options.Name)
}

// kubectl replaces this process by kubectl, so that it has the terminal and its exit code is the command's own.
func kubectl(c *controlplane.Cluster, args []string) error {
	env := append(os.Environ(), "KUBECONFIG="+c.Kubeconfig)
	return syscall.Exec(c.Kubectl, append([]string{c.Kubectl}, args...), env)
}
