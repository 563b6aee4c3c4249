package usedvalues

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/example/appservice-operator/internal/engine/chart/fields"
)

// valuesOf returns the place of all values of a chart.
func valuesOf(c *chart.Chart, kind schema.GroupVersionKind, declared *fields.File) *fields.Place {
	besides := append(slices.Collect(maps.Keys(c.Values)), "global")
	for _, dependency := range c.Dependencies() {
		besides = append(besides, dependency.Name())
	}
	place := fields.SpecOf(kind, declared, besides...)
	return &place
}

// value is an abstract value in a template: a place among the values, or a collection of such values: a map
// by names, or a list by numbers. The object that templates are executed with is such a map, too. The zero value is
// unknown.
type value struct {
	at    *fields.Place
	parts map[string]value
}

// listOf returns a list of values.
func listOf(items []value) value {
	parts := map[string]value{}
	for i, item := range items {
		parts[strconv.Itoa(i)] = item
	}
	return value{parts: parts}
}

// key returns a string that is the same for equal values.
func (v value) key() string {
	switch {
	case v.at != nil:
		return v.at.Path()
	case v.parts == nil:
		return "-"
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v.parts)) {
		fmt.Fprintf(&out, "%s: %s ", name, v.parts[name].key())
	}
	return "{" + out.String() + "}"
}

// element returns the value of an entry of a list or a map.
func (v value) element() value {
	if v.at != nil {
		at := v.at.Element()
		return value{at: &at}
	}
	if len(v.parts) == 1 {
		return v.parts["0"] // the only one of a list
	}
	return value{}
}
