// Command kind makes what follows from watches.yaml, roles and kustomizations, and what internal/plugin/lint knows of built-in kinds: "make generate". With -new, it makes the files that a new
// kind begins with: "make kind KIND=AppJob".
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/example/appservice-operator/tools/kinds"
	"github.com/example/appservice-operator/tools/toolchain"
)

func main() {
	name := flag.String("new", "", "the kind to make, as in AppJob; none: what is there is brought up to date")
	from := flag.String("from", "", "a chart of others, a folder or a package, which the kind serves as it was published")
	group := flag.String("group", "", "the group of the kind of that chart; none: that of the operator's own kinds")
	names := flag.String("names", "", "names of resources of that kind whose roles the operator may write by name")
	published := flag.Bool("published", false, "print the folders of the charts that are served as they were published")
	flag.Parse()
	wanted := kinds.Wanted{From: *from, Kind: *name, Group: *group, Names: strings.Fields(*names)}
	if err := run(wanted, *published); err != nil {
		fmt.Fprintln(os.Stderr, "kind:", err)
		os.Exit(1)
	}
}

func run(wanted kinds.Wanted, published bool) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	switch {
	case published:
		list, err := kinds.PublishedKinds(root)
		for _, kind := range list {
			fmt.Println(kind.Chart)
		}
		return err
	case wanted.From != "":
		return publish(root, wanted)
	case wanted.Kind == "":
		if err := kinds.Generate(root); err != nil {
			return err
		}
		types, err := kinds.Types()
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(root, kinds.TypesFile), types, 0o644)
	}
	made, err := kinds.Scaffold(root, wanted.Kind)
	if err != nil {
		return err
	}
	for _, file := range made {
		fmt.Println(file)
	}
	fmt.Println("Next: make generate check-chart golden, and make bundle for OLM. To see it work: make cluster install, and make run ARGS=--chart-dir=.")
	return nil
}

func publish(root string, wanted kinds.Wanted) error {
	made, remarks, err := kinds.Publish(root, wanted)
	if err != nil {
		return err
	}
	for _, file := range made {
		fmt.Println(file)
	}
	for _, remark := range remarks {
		fmt.Println(remark)
	}
	fmt.Println("Next: read renders and grants in watches.yaml, then make generate check-chart golden, and make bundle for OLM.")
	return nil
}
