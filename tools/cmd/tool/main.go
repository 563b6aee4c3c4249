// Command tool runs a program of the toolchain, downloaded or built first if the cache lacks it:
//
//	go run ./tools/cmd/tool operator-sdk bundle validate ./bundle
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/example/appservice-operator/tools/toolchain"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "tool:", err)
		os.Exit(1)
	}
}

// run replaces this process by the program, so that it has the terminal and its exit code is the command's own.
func run(args []string) error {
	if len(args) == 0 {
		return fmt.Errorf("cannot guess the program: one of %s", strings.Join(toolchain.Known(), ", "))
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	programs, err := toolchain.Ensure(ctx, os.Stderr, args[0])
	if err != nil {
		return err
	}
	cancel() // an interrupt is the program's from here on
	return syscall.Exec(programs[args[0]], args, os.Environ())
}
