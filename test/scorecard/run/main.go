// Command run runs all tests that the bundle's scorecard configuration names, and sums up. "make scorecard" runs it.
//
// By itself it needs neither containers nor images: the scorecard's own tests run with the bundle as their root folder
// (Linux), ours against a control plane with simulated nodes and a manager beside it. With -pods, operator-sdk runs them
// all as pods: of the cluster that KUBECONFIG names, where the operator must run, or of a node of its own (package
// tools/node), where it is deployed first. A node of its own gets the images from files. So does another cluster if LOAD is
// a command that loads an archive, its last argument; else they must be within reach.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/test/scorecard/result"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/toolchain"
)

// configuration is the scorecard's, as far as it matters here.
type configuration struct {
	Stages []struct {
		Tests []test `json:"tests"`
	} `json:"stages"`
}

type test struct {
	Image      string   `json:"image"`
	Entrypoint []string `json:"entrypoint"`
}

// builtIn begins the entry point of the tests that the scorecard brings along.
const builtIn = "scorecard-test"

func main() {
	pods := flag.Bool("pods", false, "run the tests as pods of the cluster that KUBECONFIG names, or of a node of its own")
	untar := flag.String("untar-image", "", "with -pods: the image that unpacks the bundle (default: operator-sdk's, or one from files)")
	flag.Parse()
	log.SetLogger(logr.Discard()) // what goes wrong is printed
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, failed, err := run(ctx, *pods, *untar)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scorecard:", err)
		failed++
	}
	fmt.Printf("SCORECARD passed=%d failed=%d\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}

func run(ctx context.Context, pods bool, untar string) (passed, failed int, err error) {
	count := func(verdict result.Result) {
		if verdict.State == result.Pass {
			passed++
			fmt.Printf("PASS %s\n", verdict.Name)
			return
		}
		failed++
		fmt.Printf("FAIL %s: %s\n%s", verdict.Name, strings.Join(slices.Compact(verdict.Errors), "; "), verdict.Log)
	}
	err = try.Catch(func() {
		root := try.Get(toolchain.Root())
		wanted := configured(filepath.Join(root, "bundle"))
		if pods {
			inPods(ctx, root, untar, wanted, count)
		} else {
			here(ctx, root, wanted, count)
		}
		if passed+failed != len(wanted) {
			try.Fail("%d tests gave a result, want %d", passed+failed, len(wanted))
		}
	})
	return passed, failed, err
}

// configured reads which tests the bundle names.
func configured(bundle string) []test {
	text := try.Get(os.ReadFile(filepath.Join(bundle, "tests/scorecard/config.yaml")))
	var config configuration
	if err := yaml.Unmarshal(text, &config); err != nil {
		try.Fail("cannot parse the scorecard's configuration: %w", err)
	}
	var tests []test
	for _, stage := range config.Stages {
		for _, test := range stage.Tests {
			if len(test.Entrypoint) != 2 {
				try.Fail("the entry point %v is not a program and the name of a test", test.Entrypoint)
			}
			tests = append(tests, test)
		}
	}
	return tests
}
