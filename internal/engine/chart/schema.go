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
		compiler.UseLoader(cuts)
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
		cuts.address = missing.URL
		if cuts.cut(document, []*url.URL{base}, false); len(cuts.found) == known {
			return nil, nil, err
		}
	}
}

// anything is the address of a schema that takes all values.
const anything = "urn:anything"

// cuts makes the references to an address refer to anything.
type cuts struct {
	address string
	found   map[string]bool // as they are written
}

// Load implements jsonschema.URLLoader. It reads neither the network nor the disk.
func (*cuts) Load(address string) (any, error) {
	if address == anything {
		return true, nil
	}
	return nil, errors.New("a schema may refer only to its own text")
}

// cut looks at a schema, or at a map of named ones, and at those below it.
func (c *cuts) cut(node any, bases []*url.URL, named bool) {
	switch node := node.(type) {
	case []any:
		for _, item := range node {
			c.cut(item, bases, false)
		}
	case map[string]any:
		if !named {
			bases = c.here(node, bases)
		}
		for key, child := range node {
			if named || !slices.Contains([]string{"const", "enum", "default", "examples"}, key) {
				c.cut(child, bases, !named && slices.Contains(names, key))
			}
		}
	}
}

// names are the keywords whose values are schemas by name.
var names = []string{"properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependencies"}

// here changes the references of one schema, and returns the addresses that those below it may be relative to: an id is
// no address in some drafts, nor beside a $ref in others.
func (c *cuts) here(node map[string]any, bases []*url.URL) []*url.URL {
	for _, key := range []string{"$id", "id"} {
		id, _ := node[key].(string)
		if base, err := bases[len(bases)-1].Parse(id); err == nil && id != "" {
			bases = append(slices.Clip(bases), base)
		}
	}
	for _, key := range []string{"$ref", "$dynamicRef", "$recursiveRef", "$schema"} {
		text, isText := node[key].(string)
		if isText && slices.ContainsFunc(bases, func(base *url.URL) bool { return c.leads(base, text) }) {
			c.found[text] = true
			node[key] = anything
		}
	}
	return bases
}

// leads reports whether a reference leads to the address. A fragment alone stays in the text.
func (c *cuts) leads(base *url.URL, reference string) bool {
	at, err := base.Parse(reference)
	if err != nil || strings.HasPrefix(reference, "#") {
		return false
	}
	address, _, _ := strings.Cut(at.String(), "#")
	return address == c.address
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
