package render

import (
	"errors"
	"fmt"
	"strings"
	"text/template"
	"time"
	_ "unsafe" // for go:linkname

	appchart "github.com/example/appservice-operator/internal/chart"
)

// Bounds of one render. The largest charts need a thousandth of them: what takes more would not end, or not fit into the API server.
const (
	// maxBytes is what all texts together may take that templates write, include or make with functions.
	maxBytes = 32 << 20
	// maxSteps is how many times all loops together may go round, and templates be included.
	maxSteps = 1_000_000
	// maxDepth is how deep templates may include each other.
	maxDepth = 500
	// maxTime is the time that a render may take. It is looked at after so many steps only that no render comes there which just had to wait
	// for a processor.
	maxTime  = 30 * time.Second
	untimely = 4096
)

var (
	errBytes = fmt.Errorf("it renders more than %d MiB: see what its loops and functions like repeat multiply", maxBytes>>20)
	errSteps = fmt.Errorf("its loops go round more than %d times: see what it ranges over", maxSteps)
	errDepth = fmt.Errorf("templates include each other more than %d deep: one includes itself without an end", maxDepth)
	errTime  = fmt.Errorf("it takes longer than %s: see what its loops do", maxTime)
)

// limitError says that a template takes too much.
type limitError struct {
	cause error
	err   error // says which template did
}

func (e *limitError) Error() string { return e.cause.Error() }
func (e *limitError) Unwrap() error { return e.err }

// work is what a render has taken so far. Text/template cannot be interrupted: each round of a loop, each template that is included and each
// text that a function makes comes by here, and gets an error once it is too much.
type work struct {
	bytes, steps, depth int
	began               time.Time
	exceeded            error
}

func (w *work) begin() { *w = work{began: time.Now()} }

// step counts a round of a loop or an inclusion.
func (w *work) step() error {
	w.steps++
	switch {
	case w.exceeded != nil:
	case w.steps > maxSteps:
		w.exceeded = errSteps
	case w.steps%untimely == 0 && time.Since(w.began) > maxTime:
		w.exceeded = errTime
	}
	return w.exceeded
}

// take counts bytes that are written or made.
func (w *work) take(size int) error {
	if size < 0 || size > maxBytes {
		size = maxBytes + 1
	}
	if w.bytes += size; w.bytes > maxBytes && w.exceeded == nil {
		w.exceeded = errBytes
	}
	return w.exceeded
}

// output is what a template writes to.
type output struct {
	work   *work
	text   strings.Builder
	traced *trace // nil but for the template of a file that is looked at
}

// Write implements io.Writer. Nothing at all is written at each round of a loop: see instrument.
func (o *output) Write(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, o.work.step()
	}
	if o.traced != nil && o.traced.passes(data) {
		return len(data), nil
	}
	if err := o.work.take(len(data)); err != nil {
		return 0, err
	}
	if o.traced != nil {
		o.traced.wrote(data)
	}
	return o.text.Write(data)
}

// include is Helm's, with bounds.
func (w *work) include(all *template.Template) func(string, any) (string, error) {
	return func(name string, data any) (string, error) {
		if err := w.step(); err != nil {
			return "", err
		}
		if w.depth++; w.depth > maxDepth && w.exceeded == nil {
			w.exceeded = errDepth
		}
		defer func() { w.depth-- }()
		if w.exceeded != nil {
			return "", w.exceeded
		}
		out := &output{work: w}
		err := all.ExecuteTemplate(out, name, data)
		return out.text.String(), err
	}
}

// tpl is Helm's, with bounds. It refuses what a template that stands in a file of the chart may not use either.
func (w *work) tpl(parent *template.Template) func(string, any) (string, error) {
	return func(text string, data any) (string, error) {
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
			instrument(parsed.Tree)
		}
		out := &output{work: w}
		if err := all.Execute(out, data); err != nil {
			return "", err
		}
		return strings.ReplaceAll(out.text.String(), "<no value>", ""), nil
	}
}

// bind replaces Helm's functions in templates by those with bounds.
func (w *work) bind(all *template.Template) {
	functions := w.bounded(helmFunctions())
	functions["include"], functions["tpl"] = w.include(all), w.tpl(all)
	all.Funcs(functions)
}

// helmFunctions returns Helm's functions, but for those that belong to one set of templates. Helm exports no other way to them.
//
//go:linkname helmFunctions helm.sh/helm/v3/pkg/engine.funcMap
func helmFunctions() template.FuncMap
