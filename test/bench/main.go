// Command bench compares the operator with others that do the same work on the same control plane, in one run: bare
// writes, a plain controller, the SDK's helm-operator and helm-operator-plugins' reconciler. See docs/benchmarks.md.
//
// It starts a control plane of its own and one contender at a time, each a process with an identity of its own. Requests
// are counted in the API server's audit log, CPU and memory by the kernel. It ends what it started, whatever happens.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/controlplane"
	"github.com/example/appservice-operator/tools/toolchain"
)

func main() {
	log.SetLogger(logr.Discard()) // that of our own watches
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // a second interrupt ends the program at once
	if err := try.Catch(func() { run(ctx) }); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is one run.
type bench struct {
	settings
	out     io.Writer
	begun   time.Time
	root    string // of the repository
	folder  string // for what is built and written on the way
	cluster *controlplane.Cluster
	api     *api
	audit   *audit
}

func run(ctx context.Context) {
	settings := try.Get(fromEnvironment())
	root, cache := try.Get(toolchain.Root()), try.Get(toolchain.Cache())
	b := &bench{settings: settings, out: os.Stdout, begun: time.Now(), root: root, folder: cache + "/bench/" + settings.cluster}
	try.Do(os.MkdirAll(b.folder, 0o755))
	results := b.measure(ctx)
	if b.profile {
		b.summarize(ctx)
		return
	}
	b.report(results)
}

// measure builds everything, brings up the control plane, and lets the contenders work in turn, in each round.
func (b *bench) measure(ctx context.Context) *Results {
	here := machine()
	earlier := try.Get(b.earlier(here))
	contenders := b.contenders()
	for _, c := range contenders {
		if earlier[c.letter] != nil {
			continue
		}
		b.profileAs(c)
		if c.build == nil {
			continue
		}
		b.say("building what %s needs", c)
		if err := c.build(ctx); err != nil {
			try.Fail("cannot build %s: %w", c, err)
		}
	}
	b.up(ctx)
	defer b.down(ctx)
	var rounds []*Results
	for n := range b.rounds {
		if b.rounds > 1 { // of medians
			b.rest(ctx)
		}
		b.say("\nround %d of %d", n+1, b.rounds)
		rounds = append(rounds, b.round(ctx, contenders, earlier, here))
	}
	return together(rounds)
}

// round lets each contender work once, except those with earlier results.
func (b *bench) round(ctx context.Context, contenders []*contender, earlier map[string]*Result, here Machine) *Results {
	results := &Results{
		Date: b.begun.UTC().Format("2006-01-02 15:04 MST"), Commit: try.Get(commit()), Machine: here, Command: b.command(), N: b.n, Objects: objectsEach,
	}
	for _, c := range contenders {
		if reused := earlier[c.letter]; reused != nil {
			b.say("\n==> %s", reused.name())
			results.Contenders = append(results.Contenders, reused)
			continue
		}
		b.say("\n==> %s", c)
		var result *Result
		err := try.Catch(func() { result = b.contend(ctx, c) })
		if err != nil {
			if ctx.Err() != nil {
				err = context.Cause(ctx)
			}
			try.Fail("%s: %w", c, err)
		}
		results.Contenders = append(results.Contenders, result)
	}
	return results
}

// say prints progress, with the time since the start.
func (b *bench) say(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	for strings.HasPrefix(text, "\n") {
		_, _ = fmt.Fprintln(b.out)
		text = text[1:]
	}
	_, _ = fmt.Fprintf(b.out, "%6.1f s  %s\n", time.Since(b.begun).Seconds(), text)
}
