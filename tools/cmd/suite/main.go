// Command suite runs suites of tests, or lists them if none is named: package suites says which. "make test-NAME"
// calls it.
//
//	go run ./tools/cmd/suite contract
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/example/appservice-operator/tools/suites"
)

func main() {
	if len(os.Args) == 1 {
		list()
		return
	}
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := suites.Run(ctx, os.Args[1:]...)
	cancel()
	if err != nil {
		fmt.Fprintf(os.Stderr, "suite: %v\n", err)
		os.Exit(1)
	}
}

func list() {
	for _, suite := range suites.All() {
		fmt.Printf("  %-18s %s", suite.Name, suite.About)
		if len(suite.Parts) > 0 {
			fmt.Printf(" (%s)", strings.Join(suite.Parts, ", "))
		}
		fmt.Println()
	}
}
