package render

import (
	"fmt"
	"maps"
	"path"
	"strings"
	"sync"
	"text/template"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/freelist"
)

// templates caches the parsed templates of one chart: Helm's engine parses all of them in every render, which takes
// half of its time, and has no limits. Which subcharts are enabled depends on the values: each set of them is parsed
// once.
type templates struct {
	sets sync.Map // of *set, by the charts that are enabled
	// published is nil for a chart that was written for this operator.
	published *publishedTemplates
}

// set is the templates of a chart with some of its subcharts.
type set struct {
	published *publishedTemplates
	once      sync.Once
	err       error
	files     []appchart.Template
	// members are what each chart's templates see in every render, by its path.
	members map[string]any
}

// programs are those that no render uses. One render at a time uses one.
var programs freelist.List[*set, *program]

// program is a set of parsed templates and the work that they have done in the current render.
type program struct {
	all  *template.Template
	work *work
}

// texts are the outputs of the templates of a chart.
type texts struct {
	// files are the texts, by the names of the templates.
	files map[string]string
	// calls of fresh functions, and lookups, of a published chart.
	calls, lookups []call
	// cost is the largest share of a limit that was used, also if the templates fail.
	cost float64
}

// render returns the text of each template, as engine.Engine{}.Render does, and stops if it exceeds the limits. Without
// a REST config the lookup function finds nothing: templates cannot read the cluster. Enabled is the chart, always of
// the same files, without the subcharts that the values disable.
func (t *templates) render(enabled *chart.Chart, input chartutil.Values, with seed, only string) (texts, error) {
	return t.of(enabled).execute(enabled, input, with, only, nil)
}

// of returns the templates of a chart with its enabled subcharts.
func (t *templates) of(enabled *chart.Chart) *set {
	key := ""
	if len(enabled.Dependencies()) > 0 {
		key = strings.Join(pathsOf(enabled), " ")
	}
	found, known := t.sets.Load(key)
	if !known {
		found, _ = t.sets.LoadOrStore(key, &set{published: t.published})
	}
	s := found.(*set)
	s.once.Do(func() { s.err = s.prepare(enabled) })
	return s
}

func pathsOf(c *chart.Chart) []string {
	list := []string{c.ChartFullPath()}
	for _, dependency := range c.Dependencies() {
		list = append(list, pathsOf(dependency)...)
	}
	return list
}

func (s *set) prepare(c *chart.Chart) error {
	first, err := newProgram(c, s.published)
	if err != nil {
		return err
	}
	s.members = map[string]any{}
	if err := s.addFiles(c); err != nil {
		return err
	}
	s.files = appchart.TemplateFiles(c)
	programs.Put(s, first)
	return nil
}

func newProgram(c *chart.Chart, published *publishedTemplates) (*program, error) {
	all, err := appchart.Parse(c)
	if err != nil {
		return nil, err
	}
	p := &program{all: all, work: &work{published: published}}
	all.Funcs(p.work.functions(all))
	for _, parsed := range all.Templates() {
		if published != nil {
			locate(parsed.Tree)
		}
		appchart.Inspect(parsed.Root, instrument)
	}
	return p, nil
}

// addFiles records .Files of a chart and its subcharts, as Helm builds them.
func (s *set) addFiles(c *chart.Chart) error {
	taken := taker{}
	reader := &chart.Chart{Metadata: c.Metadata, Files: c.Files,
		Templates: []*chart.File{{Name: "take", Data: []byte("{{ .Values.taker.Take . }}")}}}
	if _, err := (engine.Engine{}).Render(reader, chartutil.Values{"Values": map[string]any{"taker": taken}}); err != nil {
		return err
	}
	s.members[c.ChartFullPath()] = taken["Files"]
	for _, dependency := range c.Dependencies() {
		if err := s.addFiles(dependency); err != nil {
			return err
		}
	}
	return nil
}

// taker captures the scope that a template sees.
type taker map[string]any

// Take is called by a template.
func (t taker) Take(scope map[string]any) string {
	maps.Copy(t, scope)
	return ""
}

// scopes returns what the templates of a chart see, and adds it and what those of its subcharts see to all, by path.
func (s *set) scopes(c *chart.Chart, parent chartutil.Values, all map[string]chartutil.Values) chartutil.Values {
	subcharts := map[string]any{}
	scope := chartutil.Values{
		"Chart": struct {
			chart.Metadata
			IsRoot bool
		}{*c.Metadata, c.IsRoot()},
		"Files":        s.members[c.ChartFullPath()],
		"Release":      parent["Release"],
		"Capabilities": parent["Capabilities"],
		"Values":       chartutil.Values{},
		"Subcharts":    subcharts,
	}
	if c.IsRoot() {
		scope["Values"] = parent["Values"]
	} else if vals, err := parent.Table("Values." + c.Name()); err == nil {
		scope["Values"] = vals
	}
	for _, dependency := range c.Dependencies() {
		subcharts[dependency.Name()] = map[string]any(s.scopes(dependency, scope, all))
	}
	all[c.ChartFullPath()] = scope
	return scope
}

// execute renders all templates. Their output goes through traced, if that is not nil.
func (s *set) execute(c *chart.Chart, input chartutil.Values, with seed, only string,
	traced *trace) (out texts, err error) {
	if s.err != nil {
		return texts{}, s.err
	}
	var p *program
	found := false
	if traced == nil { // else its templates are marked, and used once
		p, found = programs.Get(s)
	}
	if !found {
		p, _ = newProgram(c, s.published) // it succeeded in prepare
	}
	if traced != nil {
		traced.mark(p.all)
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			out, err = texts{}, fmt.Errorf("rendering template failed: %v", thrown)
		}
		out.cost = max(float64(p.work.steps)/maxSteps, p.work.bytes/maxBytes)
		if err == nil && traced == nil {
			programs.Put(s, p) // last: another render may use it from here on
		}
	}()
	p.work.begin(with, only)
	all := map[string]chartutil.Values{}
	s.scopes(c, input, all)
	out.files = make(map[string]string, len(s.files))
	for _, file := range s.files {
		if file.Partial() {
			continue
		}
		scope := all[file.Chart.ChartFullPath()]
		scope["Template"] = chartutil.Values{"Name": file.Name,
			"BasePath": path.Join(file.Chart.ChartFullPath(), "templates")}
		text, err := p.execute(file.Name, scope, traced)
		if err != nil {
			return texts{}, err
		}
		out.files[file.Name] = text
	}
	out.calls, out.lookups = p.work.calls.made, p.work.calls.lookups
	return out, nil
}

func (p *program) execute(name string, scope chartutil.Values, traced *trace) (string, error) {
	out := &output{work: p.work, traced: traced}
	if traced != nil {
		traced.begin(name)
	}
	err := p.all.ExecuteTemplate(out, name, map[string]any(scope))
	switch exceeded := p.work.exceeded; {
	case exceeded != nil && err != nil:
		return "", &ChartError{At: name, Rule: appchart.RuleBounds, Err: exceeded}
	case err != nil:
		return "", err
	}
	return strings.ReplaceAll(out.text.String(), "<no value>", ""), nil // as Helm does
}
