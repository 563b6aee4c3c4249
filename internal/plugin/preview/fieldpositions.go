package preview

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

// fieldIn matches the field of a spec, or of metadata, at the beginning of a message. A later one is usually in a
// rendered object.
var fieldIn = regexp.MustCompile(`^(?:spec|metadata)(?:\.[A-Za-z][A-Za-z0-9_-]*|\[[^\]]*\])+`)

// fieldPositions locates the fields of a text.
type fieldPositions struct{ root *yamlv3.Node } // nil if it is empty

// place is a field in a text, or an item of a list, whose key is the item.
type place struct {
	key, value *yamlv3.Node
	isItem     bool
	// steps lead to it in the decoded text, whose keys may differ from those in the text.
	steps []string
	// shown is the path with the keys of the text.
	shown string
}

func (p place) path() string { return strings.Join(p.steps, "\x00") }

func positionsOf(text []byte) *fieldPositions {
	p := &fieldPositions{}
	var document yamlv3.Node
	if yamlv3.Unmarshal(text, &document) == nil && len(document.Content) > 0 {
		p.root = document.Content[0]
	}
	return p
}

// problem returns a problem of a field, at the place of the field, or of its parent if it is missing.
func (p *fieldPositions) problem(field, message string) Problem {
	out := Problem{Field: field, Message: message}
	if found, _ := p.find(field); found.key != nil {
		out.Line, out.Column = found.key.Line, found.key.Column
	}
	return out
}

// find returns the place of a field, and whether the text has it; else that of its last parent.
func (p *fieldPositions) find(path string) (found place, exact bool) {
	if p.root == nil || path == "" {
		return place{}, false
	}
	found = place{key: p.root, value: p.root}
	for path != "" {
		next, rest := found.step(path)
		if next.key == nil {
			return found, false
		}
		found, path = next, rest
	}
	return found, true
}

// step returns the place to which the beginning of a path leads, and the rest of the path. Names may contain dots.
func (p place) step(path string) (next place, rest string) {
	path = strings.TrimPrefix(path, ".")
	inside, after, bracket := "", "", strings.HasPrefix(path, "[")
	if bracket {
		inside, after, bracket = strings.Cut(path[1:], "]")
	}
	for _, child := range p.children() {
		name := child.steps[len(child.steps)-1]
		switch {
		case bracket && name == inside:
			return child, after
		case !bracket && len(name) > len(path), bracket, !strings.HasPrefix(path, name):
		case path[len(name):] == "" || path[len(name)] == '.' || path[len(name)] == '[':
			if next.key == nil || len(name) > len(next.steps[len(next.steps)-1]) {
				next, rest = child, path[len(name):]
			}
		}
	}
	return next, rest
}

// children returns the places of the entries of a map, those of a merge after its own, or of the items of a list.
func (p place) children() (list []place) {
	node := resolved(p.value)
	child := func(key, value *yamlv3.Node, step, shown string) place {
		return place{key: key, value: resolved(value), steps: append(slices.Clone(p.steps), step), shown: shown}
	}
	switch node.Kind {
	case yamlv3.MappingNode:
		var merged []place
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			if key.Value == "<<" {
				merged = append(merged, place{value: value, steps: p.steps, shown: p.shown}.children()...)
				continue
			}
			list = append(list, child(key, value, decodedKey(key), strings.TrimPrefix(p.shown+"."+key.Value, ".")))
		}
		return append(list, merged...)
	case yamlv3.SequenceNode:
		for i, item := range node.Content {
			one := child(item, item, strconv.Itoa(i), fmt.Sprintf("%s[%d]", p.shown, i))
			one.isItem = true
			list = append(list, one)
		}
	}
	return list
}

func resolved(node *yamlv3.Node) *yamlv3.Node {
	if node.Kind == yamlv3.AliasNode {
		return node.Alias
	}
	return node
}

// mayDiffer matches the texts that YAML may read as something else than a string.
var mayDiffer = regexp.MustCompile(`^(?:[-+.0-9].*|~|(?i:y|n|yes|no|on|off|true|false|null))$`)

// decodedKey returns a key as kubectl sends it: N, which YAML reads as a boolean, becomes false.
func decodedKey(key *yamlv3.Node) string {
	if key.Style != 0 || !mayDiffer.MatchString(key.Value) {
		return key.Value
	}
	content, err := yaml.YAMLToJSON([]byte("{" + key.Value + ": 0}"))
	if err != nil {
		return key.Value
	}
	var decoded map[string]any
	_ = json.Unmarshal(content, &decoded) // it was just made
	for name := range decoded {
		return name
	}
	return key.Value
}

// metadata returns the places of metadata that have to be strings.
func (p *fieldPositions) metadata() (list []place) {
	metadata, found := p.find("metadata")
	if !found {
		return nil
	}
	for _, child := range metadata.children() {
		switch child.key.Value {
		case "name", "namespace", "generateName":
			list = append(list, child)
		case "labels", "annotations":
			list = append(list, child.children()...)
		}
	}
	return list
}

func indexOf(step string, length int) int {
	if index, err := strconv.Atoi(step); err == nil && index >= 0 && index < length {
		return index
	}
	return -1
}

// Problem is why a resource would be refused.
type Problem struct {
	// Field that it is about, for example spec.ports[0].port; empty if that is not known.
	Field string
	// Message is one line. It begins with the field if the API server's does.
	Message string
	// Line and Column in the text of the resource, from 1; 0 if it is about no field.
	Line, Column int
}
