package suites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/example/appservice-operator/tools/toolchain"
)

// result is how a suite went.
type result struct {
	suite    string
	took     time.Duration
	compiled time.Duration // of that
	err      error
}

// Run runs suites with all their parts, one after the other, also after failures, and prints a table if there were
// several, and then the tests that failed. The error says which suites failed.
func Run(ctx context.Context, names ...string) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	all, err := parts(names...)
	if err != nil {
		return err
	}
	return runAll(&runner{ctx: ctx, root: root}, all)
}

func runAll(r *runner, all []Suite) error {
	var results []result
	for _, suite := range all {
		if r.ctx.Err() != nil {
			return r.ctx.Err()
		}
		results = append(results, r.part(suite))
	}
	if len(results) > 1 {
		table(os.Stdout, results)
	}
	r.outcome.print(os.Stdout)
	return failures(results)
}

// part runs a suite and shows how long it took, how long of that it compiled, and its slowest tests.
func (r *runner) part(suite Suite) result {
	fmt.Printf("==> %s: %s.\n", suite.Name, suite.About)
	began := time.Now()
	r.compiled, r.outcome.figures = 0, ""
	line, err := r.longRun(suite.Name)
	events, eventsErr := os.MkdirTemp("", "appservice-suite-")
	if r.events, err = events, errors.Join(err, eventsErr); err == nil {
		err = r.steps(suite.steps)
	}
	if err = errors.Join(err, r.outcome.read(r.events)); err == nil && line != "" {
		err = r.record(line + r.outcome.figures)
	}
	done := result{suite.Name, time.Since(began), r.compiled, err}
	fmt.Printf("%s took %.0f s, %.0f of them to compile. Its slowest tests:\n", suite.Name, done.took.Seconds(), done.compiled.Seconds())
	if done.err = errors.Join(err, r.slowest(), os.RemoveAll(r.events)); done.err != nil {
		done.err = fmt.Errorf("%s: %w", suite.Name, done.err)
		fmt.Fprintln(os.Stderr, done.err)
	}
	return done
}

// parts returns the suites that names stand for, each once and after its parts.
func parts(names ...string) (list []Suite, err error) {
	for _, name := range names {
		suite, found := Find(name)
		if !found {
			return nil, fmt.Errorf("there is no suite %q", name)
		}
		within, err := parts(suite.Parts...)
		if err != nil {
			return nil, err
		}
		if len(suite.steps) > 0 {
			within = append(within, suite)
		}
		for _, part := range within {
			if !slices.ContainsFunc(list, func(s Suite) bool { return s.Name == part.Name }) {
				list = append(list, part)
			}
		}
	}
	return list, nil
}

func (r *runner) steps(steps []step) error {
	for _, step := range steps {
		if err := step.run(r); err != nil {
			return err
		}
	}
	return nil
}

// table shows how long each part took, and how it ended.
func table(out io.Writer, results []result) {
	var sum time.Duration
	fmt.Fprintf(out, "\n%-18s %8s %9s  %s\n", "part", "seconds", "compiling", "result")
	for _, r := range results {
		outcome := "ok"
		if r.err != nil {
			outcome = fmt.Sprintf("failed: %.200v", r.err)
		}
		fmt.Fprintf(out, "%-18s %8.0f %9.0f  %s\n", r.suite, r.took.Seconds(), r.compiled.Seconds(), outcome)
		sum += r.took
	}
	fmt.Fprintf(out, "%-18s %8.0f\n", "all", sum.Seconds())
}

func failures(results []result) error {
	var errs []error
	for _, r := range results {
		errs = append(errs, r.err)
	}
	return errors.Join(errs...)
}
