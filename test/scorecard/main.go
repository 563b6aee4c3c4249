// Command scorecard holds the operator's own tests for operator-sdk's scorecard. In a pod that the scorecard starts, it
// runs one of them in that pod's cluster and prints how it went, as JSON:
//
//	scorecard sample-becomes-ready
//
// The bundle is in /bundle, or where $BUNDLE says. The test works in namespace $SCORECARD_NAMESPACE and leaves nothing there.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/test/scorecard/result"
	"github.com/example/appservice-operator/test/try"
)

// limit is how long a test may take: images may have to be pulled.
const limit = 4 * time.Minute

var tests = map[string]func(context.Context, *subject){
	"sample-becomes-ready":    sampleBecomesReady,
	"steady-state-is-silent":  steadyStateIsSilent,
	"deletion-leaves-nothing": deletionLeavesNothing,
}

func main() {
	if len(os.Args) != 2 || tests[os.Args[1]] == nil {
		known := slices.Sorted(maps.Keys(tests))
		fmt.Fprintf(os.Stderr, "scorecard: want the name of one test: %s\n", strings.Join(known, ", "))
		os.Exit(1)
	}
	// The scorecard parses the log of the pod as a whole. Without a logger, controller-runtime writes about that itself, to
	// stderr, when there is something to log and half a minute is over: the API server's warnings, for instance.
	log.SetLogger(logr.Discard())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, limit)
	verdict := run(ctx, os.Args[1])
	cancel()
	stop()
	text, err := json.MarshalIndent(result.Status{Results: []result.Result{verdict}}, "", "  ")
	if err != nil {
		fmt.Fprintln(os.Stderr, "scorecard:", err)
		os.Exit(1)
	}
	fmt.Println(string(text)) // the scorecard reads the state, not the exit code
}

func run(ctx context.Context, name string) result.Result {
	var said bytes.Buffer
	var subject *subject
	err := try.Catch(func() {
		subject = newSubject(cmp.Or(os.Getenv("BUNDLE"), "/bundle"), cmp.Or(os.Getenv("SCORECARD_NAMESPACE"), "default"), &said)
		tests[name](ctx, subject)
	})
	if subject == nil {
		return result.Of(name, said.String(), err)
	}
	// Remaining objects are deleted, even if the time is over.
	after, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if cleanup := subject.remove(after); err == nil {
		err = cleanup
	}
	return result.Of(name, said.String(), err)
}
