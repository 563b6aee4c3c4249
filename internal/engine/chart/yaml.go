package chart

import (
	"regexp"
	"strconv"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"
)

var yamlLine = regexp.MustCompile(`^(?:error converting YAML to JSON: )?(?:yaml: )?(?:(?:unmarshal errors:\s*)?line \d+: )?`)

// longest is the maximum number of lines in which a mistake is located: each line costs a parse of those before.
const longest = 2000

// YAMLMistake returns what is wrong with a YAML text, and on which line. The parser's own line is that of the token at
// which it gave up, or the one before, so the mistake is assumed to be on the line after the longest valid part from
// the beginning. It returns no message for a valid text.
func YAMLMistake(text string) (line, column int, message string) {
	err := readable(text)
	if err == nil {
		return 0, 0, ""
	}
	message = strings.TrimSpace(yamlLine.ReplaceAllString(err.Error(), ""))
	lines := strings.SplitAfter(text, "\n")
	if len(lines) > longest {
		return 0, 0, message
	}
	for line = len(lines); line > 1; line-- {
		if readable(strings.Join(lines[:line-1], "")) == nil {
			break
		}
	}
	shown := lines[line-1]
	return line, len(shown) - len(strings.TrimLeft(shown, " \t")) + 1, message
}

// Child returns the node that a step of a path leads to, a name or an index, and the node of its key.
func Child(node *yamlv3.Node, step string) (key, value *yamlv3.Node) {
	if node.Kind == yamlv3.AliasNode {
		node = node.Alias
	}
	switch node.Kind {
	case yamlv3.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yamlv3.SequenceNode:
		if at, err := strconv.Atoi(step); err == nil && at >= 0 && at < len(node.Content) {
			return node.Content[at], node.Content[at]
		}
	}
	return nil, nil
}

func readable(text string) error {
	var into any
	return yaml.UnmarshalStrict([]byte(text), &into)
}
