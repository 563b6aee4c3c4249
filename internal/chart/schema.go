package chart

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// unread is the loader of what a schema refers to outside of its text: it reads neither the network nor the disk.
type unread struct{}

// Load implements jsonschema.URLLoader.
func (unread) Load(string) (any, error) {
	return nil, errors.New("a schema may refer only to its own text")
}

// CompileSchema compiles a values.schema.json. References that lead out of its text are not read, and what they stand
// for is not checked: outside lists them, sorted.
func CompileSchema(text []byte) (schema *jsonschema.Schema, outside []string, err error) {
	const name = "file:///values.schema.json"
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	cuts := &cuts{found: map[string]bool{}}
	for {
		compiler := jsonschema.NewCompiler()
		compiler.UseLoader(unread{})
		if err := compiler.AddResource(name, document); err != nil {
			return nil, nil, err
		}
		schema, err := compiler.Compile(name)
		missing, isUnread := errors.AsType[*jsonschema.LoadURLError](err)
		if !isUnread {
			return schema, slices.Sorted(maps.Keys(cuts.found)), err
		}
		known := len(cuts.found)
		base, _ := url.Parse(name)
		cuts.address, cuts.ignoresSiblings = missing.URL, ignoresSiblings(document)
		if cuts.cut(document, base, false); len(cuts.found) == known {
			return nil, nil, err
		}
	}
}

// cuts removes the references to an address from a schema.
type cuts struct {
	address         string
	ignoresSiblings bool
	found           map[string]bool // as they are written
}

// ignoresSiblings reports whether a schema is of a draft in which nothing beside a $ref counts.
func ignoresSiblings(document any) bool {
	root, _ := document.(map[string]any)
	dialect, _ := root["$schema"].(string)
	return strings.Contains(dialect, "json-schema.org/draft-0")
}

// cut looks at a schema, or at a map of named ones, and at those below it.
func (c *cuts) cut(node any, base *url.URL, named bool) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			c.cut(item, base, false)
		}
	case map[string]any:
		if !named {
			base = c.here(node, base)
		}
		for key, child := range node {
			if named || !slices.Contains([]string{"const", "enum", "default", "examples"}, key) {
				c.cut(child, base, !named && slices.Contains(names, key))
			}
		}
	}
}

// names are the keywords whose values are schemas by name.
var names = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}

// here removes such references from one schema, and returns the address that those below it are relative to.
func (c *cuts) here(node map[string]any, base *url.URL) *url.URL {
	inner := base
	for _, key := range []string{"$id", "id"} {
		if id, isText := node[key].(string); isText {
			if joined, err := base.Parse(id); err == nil {
				inner = joined
			}
		}
	}
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef", "$schema"} {
		text, isText := node[key].(string)
		from := inner
		if key == "$ref" && c.ignoresSiblings {
			from = base
		}
		at, err := from.Parse(text)
		if !isText || err != nil {
			continue
		}
		if address, _, _ := strings.Cut(at.String(), "#"); address != c.address {
			continue
		}
		c.found[text] = true
		delete(node, key)
		if key == "$ref" && c.ignoresSiblings {
			maps.DeleteFunc(node, func(key string, _ any) bool {
				return !slices.Contains([]string{"definitions", "$defs", "$schema"}, key)
			})
		}
	}
	return inner
}

// outsideOf returns a warning for each reference that leads out of the values.schema.json of a chart.
func outsideOf(folder, text string) []*Fault {
	_, outside, _ := CompileSchema([]byte(text)) // rendering reports what is wrong
	faults := make([]*Fault, 0, len(outside))
	for _, reference := range outside {
		fault := &Fault{Rule: RuleSchemaReference, File: folder + "values.schema.json", Text: text,
			Message: fmt.Sprintf("refers to %q, which is not read: what it stands for is not checked", reference),
			Remedy:  "copy that schema below $defs of this file, and refer to it there"}
		if at := strings.Index(text, `"`+reference+`"`); at >= 0 {
			fault.Line, fault.Column = 1+strings.Count(text[:at], "\n"), at-strings.LastIndexByte(text[:at], '\n')
		}
		faults = append(faults, fault)
	}
	return faults
}
