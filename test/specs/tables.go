package specs

import (
	"os"

	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Entry says how a field is tried.
type Entry struct {
	// Base is what the spec holds besides the field.
	Base map[string]any `json:"base"`
	// Value and Other are values of the field that must render differently.
	Value any `json:"value"`
	Other any `json:"other"`
	// Needed says that every spec has the field, although the schema does not require it.
	Needed bool `json:"needed"`
}

// ReadStrict reads a YAML file, in which all keys must be known.
func ReadStrict(file string, into any) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return yaml.UnmarshalStrict(data, into)
}

// ReadPlain reads a YAML or JSON file of whatever shape, numbers as a resource has them.
func ReadPlain(file string) (map[string]any, error) {
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

// PlainNumbers converts the numbers in a table's values to the types that they have in a resource.
func PlainNumbers(value any) any {
	switch value := value.(type) {
	case float64:
		if value == float64(int64(value)) {
			return int64(value)
		}
	case map[string]any:
		for key := range value {
			value[key] = PlainNumbers(value[key])
		}
	case []any:
		for i := range value {
			value[i] = PlainNumbers(value[i])
		}
	}
	return value
}

// ReadTable reads the table that says how fields are tried.
func ReadTable(file string) (map[string]Entry, error) {
	table := map[string]Entry{}
	err := ReadStrict(file, &table)
	for key, e := range table {
		PlainNumbers(e.Base)
		e.Value, e.Other = PlainNumbers(e.Value), PlainNumbers(e.Other)
		table[key] = e
	}
	return table, err
}
