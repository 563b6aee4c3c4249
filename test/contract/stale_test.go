//go:build cluster

package contract

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/example/appservice-operator/test/specs"
	"github.com/example/appservice-operator/test/try"
)

// findStale finds entries of the tables for things that do not exist.
func (s *surveyor) findStale() {
	report := func(format string, args ...any) {
		s.survey.stale = append(s.survey.stale, fmt.Sprintf(format, args...))
	}
	known, tests := map[string]bool{}, map[string]bool{}
	for _, r := range s.survey.fields {
		known[r.path] = true
	}
	findTests(tests)
	for _, path := range specs.SortedKeys(s.survey.exceptions.Fields) {
		switch e := s.survey.exceptions.Fields[path]; {
		case !known[path]:
			report("exceptions.yaml, fields: %s is not a field of the spec (any more): delete it", path)
		case e.Reason == "" || e.Base != nil || e.Value != nil:
			report("exceptions.yaml, fields: %s needs a reason and takes only a test besides", path)
		case e.Test != "" && !tests[e.Test]:
			report("exceptions.yaml, fields: %s names %s, and there is no such test", path, e.Test)
		}
	}
	values := map[string]bool{}
	for _, r := range s.survey.values {
		values[r.path] = true
	}
	for _, path := range specs.SortedKeys(s.survey.exceptions.Values) {
		switch {
		case !values[path]:
			report("exceptions.yaml, values: %s is not in the chart's values.yaml (any more): delete it", path)
		case s.survey.exceptions.Values[path].Reason == "":
			report("exceptions.yaml, values: %s needs a reason", path)
		}
	}
	for _, key := range specs.SortedKeys(s.Table) {
		if !s.matchesSome(key) {
			report("values.yaml: %s is not a field of the spec (any more): delete it", key)
		}
		if reflect.DeepEqual(s.Table[key], specs.Entry{}) {
			report("values.yaml: %s says nothing", key)
		}
	}
}

func (s *surveyor) matchesSome(key string) bool {
	for _, r := range s.survey.fields {
		for path := r.path; path != ""; path = specs.Parent(path) {
			if specs.Matches(key, path) {
				return true
			}
		}
	}
	return false
}

// findTests finds the names of the Go tests of the API and of the operator as a whole, and of the scenarios that are played.
func findTests(names map[string]bool) {
	integration := try.Get(filepath.Glob(filepath.Join(root, "test", "*", "*_test.go")))
	api := try.Get(filepath.Glob(filepath.Join(root, "api", "*", "*_test.go")))
	for _, file := range append(integration, api...) {
		data := try.Get(os.ReadFile(file))
		for _, line := range strings.Split(string(data), "\n") {
			if rest, found := strings.CutPrefix(line, "func Test"); found {
				name, _, _ := strings.Cut(rest, "(")
				names["Test"+name] = true
			}
			if _, rest, found := strings.Cut(line, `{name: "`); found && strings.Contains(file, "/scenario/") {
				name, _, _ := strings.Cut(rest, `"`)
				names["TestScenarios/reference/"+name] = true
			}
		}
	}
}
