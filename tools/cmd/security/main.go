// Command security sums up what the parts of make test-security found: each left a file with figures such as vectors=40 in a folder. It
// fails if a part or a figure is missing, or if one is not as it has to be.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	folder := flag.String("figures", "bin/security", "the folder that the parts wrote into")
	flag.Parse()
	summary, err := sum(os.DirFS(*folder))
	if summary != "" {
		fmt.Println(summary)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "security:", err)
		os.Exit(1)
	}
}
