package render

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"
	_ "unsafe" // for go:linkname

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// templates keeps the templates of one chart parsed: Helm's engine parses all of them in every render, which takes half of its
// time. What goes wrong is left to Helm, who says where and why, and so are charts with subcharts, whose values and files
// have a scope each.
type templates struct {
	once   sync.Once
	usable bool
	names  []string // of the templates that render something
	scope  map[string]any
	parsed sync.Pool // of *template.Template; one render at a time uses one
}

// render gives the text of each template, as engine.Engine{}.Render does. Without a REST config the engine's lookup function
// finds nothing: templates cannot read the cluster. The chart is always the same one; enabled is the chart without the subcharts that the values switch off.
func (t *templates) render(c, enabled *chart.Chart, input chartutil.Values) (map[string]string, error) {
	t.once.Do(func() { t.usable = t.prepare(c) })
	if t.usable {
		if files, err := t.execute(c, input); err == nil {
			return files, nil
		}
	}
	return engine.Engine{}.Render(enabled, input)
}

func (t *templates) prepare(c *chart.Chart) bool {
	if len(c.Dependencies()) > 0 || strings.EqualFold(c.Metadata.Type, "library") {
		return false
	}
	parsed, err := parseAll(c)
	if err != nil {
		return false
	}
	if t.scope, err = scopeOf(c); err != nil {
		return false
	}
	for _, file := range c.Templates {
		if !strings.HasPrefix(path.Base(file.Name), "_") {
			t.names = append(t.names, nameOf(c, file))
		}
	}
	t.parsed.New = func() any {
		again, _ := parseAll(c) // it did above
		return again
	}
	t.parsed.Put(parsed)
	return true
}

func nameOf(c *chart.Chart, file *chart.File) string { return path.Join(c.ChartFullPath(), file.Name) }

// parseAll parses in Helm's order: of two definitions of a name, that of the file closer to the root stays.
func parseAll(c *chart.Chart) (*template.Template, error) {
	files := slices.SortedFunc(slices.Values(c.Templates), func(a, b *chart.File) int {
		return -cmp.Or(strings.Count(a.Name, "/")-strings.Count(b.Name, "/"), strings.Compare(a.Name, b.Name))
	})
	all := template.New("gotpl").Option("missingkey=zero")
	bindFunctions(engine.Engine{}, all)
	for _, file := range files {
		if _, err := all.New(nameOf(c, file)).Parse(string(file.Data)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// bindFunctions gives a template Helm's functions. Helm exports no other way to them.
//
//go:linkname bindFunctions helm.sh/helm/v3/pkg/engine.Engine.initFunMap
func bindFunctions(engine.Engine, *template.Template)

// scopeOf gives what the templates of a chart see in every render, .Chart and .Files, as Helm makes them.
func scopeOf(c *chart.Chart) (map[string]any, error) {
	taken := taker{}
	reader := &chart.Chart{Metadata: c.Metadata, Files: c.Files, Templates: []*chart.File{{Name: "take", Data: []byte("{{ .Values.taker.Take . }}")}}}
	if _, err := (engine.Engine{}).Render(reader, chartutil.Values{"Values": map[string]any{"taker": taken}}); err != nil {
		return nil, err
	}
	return map[string]any{"Chart": taken["Chart"], "Files": taken["Files"]}, nil
}

// taker takes along what a template sees.
type taker map[string]any

// Take is called by a template.
func (t taker) Take(scope map[string]any) string {
	maps.Copy(t, scope)
	return ""
}

func (t *templates) execute(c *chart.Chart, input chartutil.Values) (files map[string]string, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("rendering failed: %v", thrown)
		}
	}()
	all := t.parsed.Get().(*template.Template)
	scope := maps.Clone(t.scope)
	scope["Release"], scope["Capabilities"], scope["Values"] = input["Release"], input["Capabilities"], input["Values"]
	scope["Subcharts"] = map[string]any{}
	files = make(map[string]string, len(t.names))
	var text strings.Builder
	for _, name := range t.names {
		scope["Template"] = chartutil.Values{"Name": name, "BasePath": path.Join(c.ChartFullPath(), "templates")}
		text.Reset()
		if err := all.ExecuteTemplate(&text, name, scope); err != nil {
			return nil, err
		}
		files[name] = strings.ReplaceAll(text.String(), "<no value>", "") // as Helm does
	}
	t.parsed.Put(all) // not where it failed: Helm's include counts its depth
	return files, nil
}
