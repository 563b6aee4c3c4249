package render

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"text/template/parse"
	"time"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// Limits of one render. The largest charts need a thousandth of them: what exceeds them would not end, or not fit into
// the API server.
const (
	// maxBytes limits the total size of all texts that templates write, include or produce with functions.
	maxBytes = 32 << 20
	// maxSteps limits the total number of loop rounds and template inclusions.
	maxSteps = 1_000_000
	// maxDepth limits how deep templates may include each other.
	maxDepth = 500
	// maxTime is the time that a render may take. It is checked only after a number of steps, so that a render that merely
	// had to wait for a processor does not reach it.
	maxTime  = 30 * time.Second
	untimely = 4096
)

var (
	errBytes = fmt.Errorf("renders more than %d MiB: check loops and functions such as repeat",
		maxBytes>>20)
	errSteps = fmt.Errorf("loops run more than %d times: check what they range over", maxSteps)
	errDepth = fmt.Errorf("templates include each other more than %d deep: one of them includes itself", maxDepth)
	errTime  = fmt.Errorf("takes longer than %s: check the loops", maxTime)
)

// work is the cost of a render so far. Package text/template cannot be interrupted: each round of a loop, each
// included template and each text that a function produces is counted here, and gets an error once a limit is exceeded.
type work struct {
	bytes        float64
	steps, depth int
	began        time.Time
	exceeded     error

	published *publishedTemplates // nil for a chart that was written for this operator
	calls     calls
	parsed    map[string]*parse.Tree // what tpl has parsed
}

func (w *work) begin(s seed, only string) {
	*w = work{began: time.Now(), published: w.published, calls: calls{seed: s, only: only, take: w.take}}
}

// step counts a round of a loop or an inclusion.
func (w *work) step() error { return w.count(1) }

// count counts what takes as long as so many steps.
func (w *work) count(steps int) error {
	checked := w.steps / untimely
	w.steps += steps
	switch {
	case w.exceeded != nil:
	case w.steps > maxSteps:
		w.exceeded = errSteps
	case w.steps/untimely > checked && time.Since(w.began) > maxTime:
		w.exceeded = errTime
	}
	return w.exceeded
}

// enter counts a template that another one includes, until leave.
func (w *work) enter() error {
	if w.depth++; w.depth > maxDepth && w.exceeded == nil {
		w.exceeded = errDepth
	}
	return w.step()
}

func (w *work) leave() { w.depth-- }

// take counts bytes that are written or produced.
func (w *work) take(size float64) error {
	w.bytes += size
	return w.fits(0)
}

// fits returns an error if so many bytes more are too many.
func (w *work) fits(size float64) error {
	if w.bytes+size > maxBytes && w.exceeded == nil {
		w.exceeded = errBytes
	}
	return w.exceeded
}

// output is the writer of a template.
type output struct {
	work   *work
	text   strings.Builder
	traced *trace // nil except for the template of the file that is traced
}

// Write implements io.Writer. An empty text is written at each round of a loop: see instrument.
func (o *output) Write(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, o.work.step()
	}
	if o.traced != nil && o.traced.passes(data) {
		return len(data), nil
	}
	if err := o.work.take(float64(len(data))); err != nil {
		return 0, err
	}
	if o.traced != nil {
		o.traced.wrote(data)
	}
	return o.text.Write(data)
}

// include is Helm's include function, with limits.
func (w *work) include(all *template.Template) func(string, any) (string, error) {
	return func(name string, data any) (string, error) {
		defer w.leave()
		if err := w.enter(); err != nil {
			return "", err
		}
		out := &output{work: w}
		err := all.ExecuteTemplate(out, name, data)
		return out.text.String(), err
	}
}

// tpl is Helm's tpl function, with limits. It refuses whatever templates in files of the chart may not use either.
func (w *work) tpl(parent *template.Template) func(string, any) (string, error) {
	if w.published != nil {
		return w.publishedTpl(parent)
	}
	return func(text string, data any) (string, error) {
		defer w.leave()
		if err := w.enter(); err != nil {
			return "", err
		}
		all, err := parent.Clone()
		if err != nil {
			return "", fmt.Errorf("cannot clone template: %w", err)
		}
		all.Option("missingkey=zero") // text/template forgets it
		all.Funcs(template.FuncMap{"include": w.include(all), "tpl": w.tpl(all)})
		if all, err = all.New(parent.Name()).Parse(text); err != nil {
			return "", err
		}
		for _, parsed := range all.Templates() {
			if known := parent.Lookup(parsed.Name()); known != nil && known.Tree == parsed.Tree {
				continue
			}
			for _, found := range appchart.CheckTree(parsed.Tree) {
				return "", errors.New("the template " + found.Message + "; " + found.Remedy)
			}
			appchart.Inspect(parsed.Root, instrument)
		}
		out := &output{work: w}
		if err := all.Execute(out, data); err != nil {
			return "", err
		}
		return strings.ReplaceAll(out.text.String(), "<no value>", ""), nil
	}
}
