// Command kind makes what follows from watches.yaml, roles and kustomizations, and what internal/cli/lint knows of built-in kinds: "make generate". With -new, it makes the files that a new
// kind begins with: "make kind KIND=AppJob".
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/example/appservice-operator/tools/kinds"
	"github.com/example/appservice-operator/tools/toolchain"
)

func main() {
	name := flag.String("new", "", "the kind to make, as in AppJob; none: what is there is brought up to date")
	flag.Parse()
	if err := run(*name); err != nil {
		fmt.Fprintln(os.Stderr, "kind:", err)
		os.Exit(1)
	}
}

func run(name string) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	if name == "" {
		if err := kinds.Generate(root); err != nil {
			return err
		}
		types, err := kinds.Types()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(root, kinds.TypesFile), types, 0o644)
	}
	made, err := kinds.Scaffold(root, name)
	if err != nil {
		return err
	}
	for _, file := range made {
		fmt.Println(file)
	}
	fmt.Println("Next: make generate bundle golden, then make test-chart. To see it work: make cluster install, and make run ARGS=--chart-dir=.")
	return nil
}
