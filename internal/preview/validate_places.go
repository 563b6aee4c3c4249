package preview

import (
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

var (
	// fieldIn matches the field of a spec, or of metadata, at the beginning of a message. A later one is usually in a rendered object.
	fieldIn = regexp.MustCompile(`^(?:spec|metadata)(?:\.[A-Za-z][A-Za-z0-9_-]*|\[[^\]]*\])+`)
	// step matches a step of a path: a name, or the text in brackets.
	step = regexp.MustCompile(`\.?([^.\[\]]+)|\[([^\]]*)\]`)
)

// places locates the fields of a text.
type places struct{ root *yaml.Node } // nil if it is empty

func placesOf(text []byte) *places {
	p := &places{}
	var document yaml.Node
	if yaml.Unmarshal(text, &document) == nil && len(document.Content) > 0 {
		p.root = document.Content[0]
	}
	return p
}

// problem returns a problem of a field, at the place of the field, or of its parent if it is missing.
func (p *places) problem(field, message string) Problem {
	found := Problem{Field: field, Message: message}
	node := p.root
	if node == nil || field == "" {
		return found
	}
	key := node
	for _, match := range step.FindAllStringSubmatch(field, -1) {
		name, value := child(node, match[1]+match[2])
		if value == nil {
			break
		}
		key, node = name, value
	}
	found.Line, found.Column = key.Line, key.Column
	return found
}

// child returns the node that a step leads to, and the node of its key.
func child(node *yaml.Node, step string) (key, value *yaml.Node) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if at, err := strconv.Atoi(step); err == nil && at >= 0 && at < len(node.Content) {
			return node.Content[at], node.Content[at]
		}
	}
	return nil, nil
}
