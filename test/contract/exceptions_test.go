//go:build cluster

package contract

import (
	"github.com/example/appservice-operator/test/specs"
	"github.com/example/appservice-operator/test/try"
)

// exceptions are fields and values to which the rules do not apply.
type exceptions struct {
	// Fields of the spec that only the operator uses and that change nothing in the chart's objects, or that are always refused.
	Fields map[string]exception `json:"fields"`
	// Values of the chart that are not fields of the spec.
	Values map[string]exception `json:"values"`
}

type exception struct {
	Reason string `json:"reason"`
	// Test is the Go test of a field that the contract does not cover.
	Test string `json:"test"`
	// Base is the spec in which one of the chart's values matters, and Value what it is changed to; scalars need none.
	Base  map[string]any `json:"base"`
	Value any            `json:"value"`
}

func readExceptions(file string) *exceptions {
	all := &exceptions{}
	try.Do(specs.ReadStrict(file, all))
	for key, e := range all.Values {
		specs.PlainNumbers(e.Base)
		e.Value = specs.PlainNumbers(e.Value)
		all.Values[key] = e
	}
	return all
}
