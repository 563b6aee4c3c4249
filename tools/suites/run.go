package suites

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
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

// Run runs suites with all their parts, one after the other except for those that run beside others, also after
// failures, and prints a table if there were several, and then the tests that failed. The error says which suites failed.
func Run(ctx context.Context, names ...string) error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	suites, err := lanesOf(names...)
	if err != nil {
		return err
	}
	return runAll(&runner{ctx: ctx, root: root, out: os.Stdout}, suites)
}

// runAll shows at once what the suites in turn print, and after them what those beside them have printed.
func runAll(r *runner, suites lanes) error {
	began := time.Now()
	if len(suites.beside) == 0 {
		return r.end(r.all(suites.inTurn), began)
	}
	log, err := os.CreateTemp("", "appservice-suites-")
	if err != nil {
		return err
	}
	fmt.Fprintf(r.out, "%s at the same time; what they print is shown at the end.\n", namesOf(suites.beside))
	other, others := &runner{ctx: r.ctx, root: r.root, out: log}, make(chan []result)
	go func() { others <- other.all(suites.beside) }()
	results := r.all(suites.inTurn)
	results = append(results, <-others...)
	r.outcome.add(other.outcome)
	_, err = log.Seek(0, io.SeekStart)
	_, copyErr := io.Copy(r.out, log)
	return errors.Join(r.end(results, began), err, copyErr, log.Close(), os.Remove(log.Name()))
}

// all runs suites, one after the other, until the context ends.
func (r *runner) all(suites []Suite) (results []result) {
	for _, suite := range suites {
		if r.ctx.Err() != nil {
			return append(results, result{suite: suite.Name, err: r.ctx.Err()})
		}
		results = append(results, r.part(suite))
	}
	return results
}

// end shows how suites went, and returns their errors.
func (r *runner) end(results []result, began time.Time) error {
	if len(results) > 1 {
		table(r.out, results, time.Since(began))
	}
	r.outcome.print(r.out)
	return failures(results)
}

// part runs a suite and shows how long it took, how long of that it compiled, and its slowest tests.
func (r *runner) part(suite Suite) result {
	fmt.Fprintf(r.out, "==> %s: %s.\n", suite.Name, suite.About)
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
	fmt.Fprintf(r.out, "%s took %.0f s, %.0f of them to compile. Its slowest tests:\n",
		suite.Name, done.took.Seconds(), done.compiled.Seconds())
	if done.err = errors.Join(err, r.slowest(), os.RemoveAll(r.events)); done.err != nil {
		done.err = fmt.Errorf("%s: %w", suite.Name, done.err)
		fmt.Fprintln(r.out, done.err)
	}
	return done
}

// lanes are suites that run at the same time, each lane one after the other.
type lanes struct{ inTurn, beside []Suite }

// lanesOf returns the suites that names stand for, each once and after its parts.
func lanesOf(names ...string) (l lanes, err error) {
	for _, name := range names {
		err = errors.Join(err, l.add(name, &l.inTurn))
	}
	return l, err
}

func (l *lanes) add(name string, lane *[]Suite) error {
	suite, found := Find(name)
	if !found {
		return fmt.Errorf("there is no suite %q", name)
	}
	for _, part := range suite.Parts {
		if err := l.add(part, lane); err != nil {
			return err
		}
	}
	for _, part := range suite.Beside {
		if err := l.add(part, &l.beside); err != nil {
			return err
		}
	}
	known := slices.ContainsFunc(slices.Concat(l.inTurn, l.beside), func(s Suite) bool { return s.Name == name })
	if len(suite.steps) > 0 && !known {
		*lane = append(*lane, suite)
	}
	return nil
}

func namesOf(list []Suite) string {
	var names []string
	for _, suite := range list {
		names = append(names, suite.Name)
	}
	return strings.Join(names, ", ")
}

func (r *runner) steps(steps []step) error {
	for _, step := range steps {
		if err := step.run(r); err != nil {
			return err
		}
	}
	return nil
}

// table shows how long each part and all of them took, and how each ended.
func table(out io.Writer, results []result, all time.Duration) {
	fmt.Fprintf(out, "\n%-18s %8s %9s  %s\n", "part", "seconds", "compiling", "result")
	for _, r := range results {
		outcome := "ok"
		if r.err != nil {
			outcome = fmt.Sprintf("failed: %.200v", r.err)
		}
		fmt.Fprintf(out, "%-18s %8.0f %9.0f  %s\n", r.suite, r.took.Seconds(), r.compiled.Seconds(), outcome)
	}
	fmt.Fprintf(out, "%-18s %8.0f\n", "all", all.Seconds())
}

func failures(results []result) error {
	var errs []error
	for _, r := range results {
		errs = append(errs, r.err)
	}
	return errors.Join(errs...)
}
