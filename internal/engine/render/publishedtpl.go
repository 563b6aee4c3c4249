package render

import (
	"fmt"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// publishedTemplates is what a published chart needs of the engine.
type publishedTemplates struct {
	// trusted returns the actions that tpl executes; nil for all.
	trusted func() trusted
}

// engine returns the templates of the renderer's chart.
func (r *Renderer) engine() *templates {
	r.prepare.Do(func() {
		if !r.Published.Is() {
			return
		}
		r.templates.published = &publishedTemplates{}
		if !r.Published.TemplatesInSpec {
			r.templates.published.trusted = sync.OnceValue(func() trusted {
				return actionsOf(r.Chart, r.Platform.Defaults, r.Platform.Overrides)
			})
		}
	})
	return &r.templates
}

// publishedTpl is Helm's tpl function for a published chart: it executes only the chart's own actions.
func (w *work) publishedTpl(parent *template.Template) func(string, any) (string, error) {
	return func(text string, data any) (string, error) {
		if !strings.Contains(text, "{{") {
			return text, nil
		}
		defer w.leave()
		if err := w.enter(); err != nil {
			return "", err
		}
		all, tree := parent, w.parsed[text]
		if tree == nil {
			if err := w.take(float64(len(text))); err != nil {
				return "", err
			}
			var err error
			if all, tree, err = w.parse(parent, text); err != nil {
				return "", err
			}
		}
		executed := all.New(parent.Name())
		executed.Tree = tree
		out := &output{work: w}
		if err := executed.Execute(out, data); err != nil {
			return "", err
		}
		return strings.ReplaceAll(out.text.String(), "<no value>", ""), nil
	}
}

// parse returns a text as a template, among those that it can include: a copy of them if it defines any itself.
func (w *work) parse(parent *template.Template, text string) (*template.Template, *parse.Tree, error) {
	trees := map[string]*parse.Tree{}
	tree := parse.New(parent.Name())
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(text, "", "", trees); err != nil {
		return nil, nil, err
	}
	var defined []*parse.Tree
	for _, each := range trees {
		if each != tree {
			defined = append(defined, each)
		}
	}
	if w.published.trusted != nil {
		if err := w.published.trusted().check(tree, defined); err != nil {
			return nil, nil, err
		}
	}
	all := parent
	if len(defined) > 0 {
		var err error
		if all, err = parent.Clone(); err != nil {
			return nil, nil, fmt.Errorf("cannot clone template: %w", err)
		}
		all.Option("missingkey=zero") // text/template forgets it
		all.Funcs(template.FuncMap{"include": w.include(all), "tpl": w.tpl(all)})
	}
	for _, each := range append(defined, tree) {
		locate(each)
		appchart.Inspect(each.Root, instrument)
		if each == tree {
			continue
		}
		if _, err := all.AddParseTree(each.Name, each); err != nil {
			return nil, nil, err
		}
	}
	if len(defined) == 0 {
		if w.parsed == nil {
			w.parsed = map[string]*parse.Tree{}
		}
		w.parsed[text] = tree
	}
	return all, tree, nil
}
