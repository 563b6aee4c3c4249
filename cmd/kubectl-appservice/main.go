// Command kubectl-appservice is the kubectl plugin "kubectl appservice": it shows what AppServices become, and explains
// their state.
package main

import (
	"context"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"github.com/example/appservice-operator/internal/plugin"
)

func main() {
	debug.SetGCPercent(400) // commands are short-lived and use little memory
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) { // nohup
		ends = append(ends, syscall.SIGHUP) // the terminal was closed
	}
	ctx, cancel := signal.NotifyContext(context.Background(), ends...)
	code := plugin.Run(ctx, os.Args[1:], genericiooptions.IOStreams{In: os.Stdin, Out: os.Stdout, ErrOut: os.Stderr})
	cancel()
	os.Exit(code)
}
