package contract

import (
	"os"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// entry says how a field is tried.
type entry struct {
	// Base is what the spec holds besides the field.
	Base map[string]any `json:"base"`
	// Value and Other are values of the field that must render differently.
	Value any `json:"value"`
	Other any `json:"other"`
	// Needed says that there is no spec without the field, although the schema does not require it.
	Needed bool `json:"needed"`
}

// exceptions are what the rules do not hold for.
type exceptions struct {
	// Fields of the spec that are the operator's own business and move nothing that the chart renders, or that are always refused.
	Fields map[string]exception `json:"fields"`
	// Values of the chart that are no fields of the spec.
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

// readStrict reads a YAML file, in which all keys must be known.
func readStrict(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(data, into)
}

// readPlain reads a YAML or JSON file of whatever shape, numbers as a resource has them.
func readPlain(file string) (map[string]any, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if data, err = yaml.YAMLToJSONStrict(data); err != nil {
		return nil, err
	}
	var content map[string]any
	return content, utiljson.Unmarshal(data, &content)
}

// plainNumbers gives a table's values the numbers that a resource has.
func plainNumbers(value any) any {
	switch value := value.(type) {
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
	case map[string]any:
		for key := range value {
			value[key] = plainNumbers(value[key])
		}
	case []any:
		for i := range value {
			value[i] = plainNumbers(value[i])
		}
	}
	return value
}

func readTable(file string) (map[string]entry, error) {
	table := map[string]entry{}
	err := readStrict(file, &table)
	for key, e := range table {
		plainNumbers(e.Base)
		e.Value, e.Other = plainNumbers(e.Value), plainNumbers(e.Other)
		table[key] = e
	}
	return table, err
}

func readExceptions(file string) (*exceptions, error) {
	all := &exceptions{}
	err := readStrict(file, all)
	for key, e := range all.Values {
		plainNumbers(e.Base)
		e.Value = plainNumbers(e.Value)
		all.Values[key] = e
	}
	return all, err
}
