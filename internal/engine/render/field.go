package render

import (
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// misfit is a value that a values.schema.json refuses.
type misfit struct {
	path []string // in the values of the chart
	says string
	lack bool // nothing is at the path
}

// misfits lists what a schema refuses, in order. Alternatives are one misfit if none matches.
func misfits(err *jsonschema.ValidationError) []misfit {
	at := err.InstanceLocation
	switch why := err.ErrorKind.(type) {
	case *kind.Required:
		return each(why.Missing, func(name string) misfit { return misfit{below(at, name), "required", true} })
	case *kind.AdditionalProperties:
		return each(why.Properties, func(name string) misfit {
			return misfit{below(at, name), "there is no such field",
				false}
		})
	case *kind.AnyOf, *kind.OneOf:
		if len(err.Causes) > 0 {
			return []misfit{{at, alternatives(err), false}}
		}
	}
	if len(err.Causes) == 0 {
		return []misfit{{at, words(err.ErrorKind), false}}
	}
	var list []misfit
	for _, cause := range err.Causes {
		list = append(list, misfits(cause)...)
	}
	return list
}

func each(names []string, of func(name string) misfit) []misfit {
	list := make([]misfit, 0, len(names))
	for _, name := range names {
		list = append(list, of(name))
	}
	return list
}

func below(path []string, name string) []string { return append(slices.Clone(path), name) }

// alternatives returns why none of several schemas matches.
func alternatives(err *jsonschema.ValidationError) string {
	var list []string
	for _, cause := range err.Causes {
		for _, found := range misfits(cause) {
			says := found.says
			if deeper := found.path[len(err.InstanceLocation):]; len(deeper) > 0 {
				says = strings.Join(deeper, ".") + ": " + says
			}
			if !slices.Contains(list, says) {
				list = append(list, says)
			}
		}
	}
	return strings.Join(list, ", or ")
}

// words describe what a schema requires, and never what a value is: it may be secret.
func words(why jsonschema.ErrorKind) string {
	switch why := why.(type) {
	case *kind.Pattern:
		return "does not match the pattern " + why.Want
	case *kind.Format:
		return "not a valid " + why.Want
	case *kind.Minimum:
		return "must be at least " + number(why.Want)
	case *kind.Maximum:
		return "must be at most " + number(why.Want)
	case *kind.FalseSchema:
		return "not allowed"
	}
	return strings.TrimPrefix((&jsonschema.ValidationError{ErrorKind: why}).Error(), "at '': ")
}

// number formats a bound for people.
func number(bound *big.Rat) string {
	value, _ := bound.Float64()
	return strconv.FormatFloat(value, 'f', -1, 64)
}

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// fieldOf returns a path of values as the API spells it.
func fieldOf(values map[string]any, path []string) string {
	var out strings.Builder
	out.WriteString("spec")
	var at any = values
	for _, step := range path {
		if _, isList := at.([]any); isList || !identifier.MatchString(step) {
			fmt.Fprintf(&out, "[%s]", step)
		} else {
			out.WriteString("." + step)
		}
		at = valueAt(at, step)
	}
	return out.String()
}

// valueAt returns an entry of a map or a list; nil if there is none.
func valueAt(value any, step string) any {
	switch value := value.(type) {
	case map[string]any:
		return value[step]
	case []any:
		if index, err := strconv.Atoi(step); err == nil && index >= 0 && index < len(value) {
			return value[index]
		}
	}
	return nil
}

// says reports whether a path of values is set.
func says(values map[string]any, path []string) bool {
	var at any = values
	for _, step := range path {
		if at = valueAt(at, step); at == nil {
			return false
		}
	}
	return true
}

// refusal returns an error that names the fields of the spec which a schema refuses, or says that it refuses the
// chart's own values. Given are the values that the spec was translated into; used are those merged with the chart's
// defaults.
func refusal(given, used map[string]any, found []misfit, published bool) error {
	var ofSpec, ofChart []string
	for _, misfit := range found {
		path := misfit.path
		if global := slices.Index(path, "global"); global > 0 && says(given, path[global:]) {
			path = path[global:] // Helm passes it to each subchart
		}
		parent := path
		if misfit.lack {
			parent = path[:len(path)-1]
		}
		text := fieldOf(used, path) + ": " + misfit.says
		if says(given, parent) || published && (misfit.lack || !says(used, path)) {
			ofSpec = append(ofSpec, text)
		} else {
			ofChart = append(ofChart, strings.TrimPrefix(text, "spec."))
		}
	}
	if len(ofSpec) > 0 {
		slices.Sort(ofSpec)
		return &SpecError{Message: strings.Join(slices.Compact(ofSpec), "; ")}
	}
	slices.Sort(ofChart)
	return &ChartError{At: "values.yaml", Rule: appchart.RuleBadValues,
		Err: errors.New("does not fit values.schema.json: " + strings.Join(slices.Compact(ofChart), "; "))}
}
