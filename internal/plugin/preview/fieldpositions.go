package preview

import (
	"regexp"

	"go.yaml.in/yaml/v3"

	"github.com/example/appservice-operator/internal/engine/chart"
)

var (
	// fieldIn matches the field of a spec, or of metadata, at the beginning of a message. A later one is usually in a
	// rendered object.
	fieldIn = regexp.MustCompile(`^(?:spec|metadata)(?:\.[A-Za-z][A-Za-z0-9_-]*|\[[^\]]*\])+`)
	// step matches a step of a path: a name, or the text in brackets.
	step = regexp.MustCompile(`\.?([^.\[\]]+)|\[([^\]]*)\]`)
)

// fieldPositions locates the fields of a text.
type fieldPositions struct{ root *yaml.Node } // nil if it is empty

func positionsOf(text []byte) *fieldPositions {
	p := &fieldPositions{}
	var document yaml.Node
	if yaml.Unmarshal(text, &document) == nil && len(document.Content) > 0 {
		p.root = document.Content[0]
	}
	return p
}

// problem returns a problem of a field, at the place of the field, or of its parent if it is missing.
func (p *fieldPositions) problem(field, message string) Problem {
	found := Problem{Field: field, Message: message}
	node := p.root
	if node == nil || field == "" {
		return found
	}
	key := node
	for _, match := range step.FindAllStringSubmatch(field, -1) {
		name, value := chart.Child(node, match[1]+match[2])
		if value == nil {
			break
		}
		key, node = name, value
	}
	found.Line, found.Column = key.Line, key.Column
	return found
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
