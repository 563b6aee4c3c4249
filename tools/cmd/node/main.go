// Command node brings up, ends and uses a cluster of one real node on this machine. See "go run ./tools/cmd/node help".
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/example/appservice-operator/tools/node"
	"github.com/example/appservice-operator/tools/toolchain"
)

const usage = `usage: go run ./tools/cmd/node COMMAND

  up               bring up a cluster of one real node, or find the one that is up (Linux, root)
  down             end it and delete its state
  env              print the shell commands that point kubectl and others at it
  kubectl ...      run kubectl on it
  load FILE...     bring images into it, from archives
  restart-kubelet  kill its kubelet and start it again
  build            only build its programs

environment: NODE_NAME (default ` + node.DefaultName + `), APPSERVICE_CACHE (where programs and state are kept)
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "node:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	const commands = "one of up, down, env, kubectl, load, restart-kubelet, build or help"
	if len(args) == 0 {
		return fmt.Errorf("cannot guess the command: %s", commands)
	}
	if len(args) > 1 && args[0] != "kubectl" && args[0] != "load" {
		return fmt.Errorf("cannot use %q: %s takes no arguments", strings.Join(args[1:], " "), args[0])
	}
	options := node.Options{Name: os.Getenv("NODE_NAME"), Progress: stderr}
	switch args[0] {
	case "up":
		n, err := node.Up(ctx, options)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(stdout, "node %s is up at %s. To use it:\n\n%s", n.Name, n.Address, toolchain.Exports(n.Kubeconfig, n.Kubectl))
		return err
	case "down":
		return node.Down(ctx, options)
	case "build":
		_, err := node.Programs(ctx, stderr)
		return err
	case "help", "-h", "--help":
		_, err := io.WriteString(stdout, usage)
		return err
	case "env", "kubectl", "load", "restart-kubelet":
		n, err := node.Existing(ctx, options)
		if err != nil {
			return err
		}
		return use(ctx, n, args, stdout)
	default:
		return fmt.Errorf("cannot run %q: %s", args[0], commands)
	}
}

// use runs a command on a running node.
func use(ctx context.Context, n *node.Node, args []string, stdout io.Writer) error {
	switch args[0] {
	case "kubectl":
		// kubectl replaces this process, so that it has the terminal and its exit code is the command's own.
		return syscall.Exec(n.Kubectl, append([]string{n.Kubectl}, args[1:]...), append(os.Environ(), "KUBECONFIG="+n.Kubeconfig))
	case "load":
		return n.Load(ctx, args[1:]...)
	case "restart-kubelet":
		return n.RestartKubelet(ctx)
	default:
		_, err := io.WriteString(stdout, toolchain.Exports(n.Kubeconfig, n.Kubectl))
		return err
	}
}
