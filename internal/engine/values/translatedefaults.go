package values

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v3/pkg/chartutil"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// PlaceOf returns what a translator knows about the fields of a spec; nothing for translators of other packages.
func PlaceOf(t Translator) fields.Place {
	if ours, is := t.(*translator); is {
		return ours.place
	}
	return fields.Place{}
}

// OfDefaults translates defaults for all specs of a kind, as if a spec contained them, without overrides. The error
// names a field that cannot be set there: it is unknown, it cannot be decoded, or every spec has it anyway.
func OfDefaults(t Translator, given map[string]any) (chartutil.Values, error) {
	place := PlaceOf(t)
	if err := reachable(place, given, ""); err != nil {
		return nil, err
	}
	ours, is := t.(*translator)
	switch {
	case !is || !ours.typed && ours.declared == nil:
		return given, nil
	case ours.err != nil:
		return nil, ours.err
	}
	values, unknown, err := ours.fields(given)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "spec."))
	}
	if len(unknown) > 0 {
		slices.Sort(unknown)
		return nil, unknownField(place, unknown[0])
	}
	for name := range values { // set by a Go type although it was not given
		if _, said := given[name]; !said {
			delete(values, name)
		}
	}
	return values, nil
}

// Knows returns an error if fields that namespaces may set do not exist, or if no default can reach them.
func Knows(t Translator, paths []string) error {
	for _, path := range paths {
		place := PlaceOf(t)
		for _, name := range strings.Split(path, ".") {
			field, known := place.Field(name)
			if !known {
				return unknownField(PlaceOf(t), "spec."+path)
			}
			if why := place.Fixed(name); why != "" {
				return fmt.Errorf("%s cannot have a default: %s", path, why)
			}
			place = field
		}
	}
	return nil
}

// reachable returns an error that names a field which no default reaches.
func reachable(place fields.Place, given map[string]any, path string) error {
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if given[name] == nil {
			return fmt.Errorf("%s: empty: leave it out", path+name)
		}
		if why := place.Fixed(name); why != "" {
			return fmt.Errorf("%s cannot have a default: %s", path+name, why)
		}
		nested, isMap := given[name].(map[string]any)
		field, known := place.Field(name)
		if isMap && known {
			if err := reachable(field, nested, path+name+"."); err != nil {
				return err
			}
		}
	}
	return nil
}

// unknownField returns the error for a path that is not a field.
func unknownField(spec fields.Place, path string) error {
	cut := strings.LastIndex(path, ".")
	question := ""
	if parent, known := spec.At(path[:cut]); known {
		question = parent.DidYouMean(path[cut+1:])
	}
	return fmt.Errorf("%s: there is no such field%s", strings.TrimPrefix(path, "spec."), question)
}
