package chart

import (
	"bytes"
	"encoding/json"
	"maps"
	"strings"
	"text/template"

	"github.com/BurntSushi/toml"
	"github.com/Masterminds/sprig/v3"
	"sigs.k8s.io/yaml"
	goyaml "sigs.k8s.io/yaml/goyaml.v3"
)

// Refusal is what a template says to the author of a spec, by fail or required.
type Refusal struct{ Message string }

func (r *Refusal) Error() string { return r.Message }

// Functions returns the functions that Helm has for templates: it does not export its own. Like them, most return a
// text for whatever they cannot do. Include and tpl belong to one set of templates: who executes it binds them.
func Functions() template.FuncMap {
	all := sprig.TxtFuncMap()
	delete(all, "env")
	delete(all, "expandenv")
	maps.Copy(all, template.FuncMap{
		"toYaml":        toYAML,
		"toYamlPretty":  toYAMLPretty,
		"toToml":        toTOML,
		"toJson":        toJSON,
		"fromYaml":      func(text string) map[string]any { return mapFrom(text, unmarshalYAML) },
		"fromToml":      func(text string) map[string]any { return mapFrom(text, toml.Unmarshal) },
		"fromJson":      func(text string) map[string]any { return mapFrom(text, json.Unmarshal) },
		"fromYamlArray": func(text string) []any { return listFrom(text, unmarshalYAML) },
		"fromJsonArray": func(text string) []any { return listFrom(text, json.Unmarshal) },
		"include":       func(string, any) string { return "" },
		"tpl":           func(string, any) string { return "" },
		"required":      required,
		"fail":          func(message string) (string, error) { return "", &Refusal{message} },
		// Templates can neither read the cluster nor reach the network.
		"lookup":        func(_, _, _, _ string) map[string]any { return map[string]any{} },
		"getHostByName": func(string) string { return "" },
	})
	return all
}

func toYAML(value any) string {
	data, err := yaml.Marshal(value)
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(string(data), "\n")
}

func toYAMLPretty(value any) string {
	var out bytes.Buffer
	encoder := goyaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if encoder.Encode(value) != nil {
		return ""
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func toTOML(value any) string {
	var out bytes.Buffer
	if err := toml.NewEncoder(&out).Encode(value); err != nil {
		return err.Error()
	}
	return out.String()
}

func toJSON(value any) string {
	data, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(data)
}

func unmarshalYAML(data []byte, into any) error { return yaml.Unmarshal(data, into) }

// mapFrom returns the map that a text is, with the error as a member if it is none.
func mapFrom(text string, unmarshal func([]byte, any) error) map[string]any {
	read := map[string]any{}
	if err := unmarshal([]byte(text), &read); err != nil {
		read["Error"] = err.Error()
	}
	return read
}

// listFrom returns the list that a text is, or one of the error.
func listFrom(text string, unmarshal func([]byte, any) error) []any {
	read := []any{}
	if err := unmarshal([]byte(text), &read); err != nil {
		return []any{err.Error()}
	}
	return read
}

func required(message string, value any) (any, error) {
	if value == nil || value == "" {
		return value, &Refusal{message}
	}
	return value, nil
}
