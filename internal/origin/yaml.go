package origin

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// YAML formats values as a values.yaml, each with its origin as a comment if requested.
func YAML(list []Value, origins bool) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, value := range list {
		at := root
		for _, key := range value.Path[:len(value.Path)-1] {
			at = entry(at, key)
		}
		key, content := text(value.Path[len(value.Path)-1]), &yaml.Node{}
		if err := content.Encode(value.Value); err != nil {
			return nil, fmt.Errorf("%s: %w", value.Name(), err)
		}
		if origins && len(content.Content) > 0 {
			key.HeadComment = "# " + string(value.Origin) // the list is below
		} else if origins {
			content.LineComment = "# " + string(value.Origin)
		}
		at.Content = append(at.Content, key, content)
	}
	var out bytes.Buffer
	printer := yaml.NewEncoder(&out)
	printer.SetIndent(2)
	if err := printer.Encode(root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func text(value string) *yaml.Node {
	node := &yaml.Node{}
	node.SetString(value)
	return node
}

// entry returns the map at a key, and creates it if there is none. Values come sorted, so it is the last entry.
func entry(in *yaml.Node, key string) *yaml.Node {
	if count := len(in.Content); count > 0 && in.Content[count-2].Value == key {
		return in.Content[count-1]
	}
	made := &yaml.Node{Kind: yaml.MappingNode}
	in.Content = append(in.Content, text(key), made)
	return made
}
