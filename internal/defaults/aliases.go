package defaults

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// folded returns an error if a text says more than a namespace may, once each alias stands for what it repeats: of a few bytes, aliases make
// gigabytes. What is no YAML is reported by the reader.
func folded(text string) error {
	document := &yaml.Node{}
	if yaml.Unmarshal([]byte(text), document) != nil {
		return nil
	}
	if size := (unfolding{}).size(document); size > most {
		return fmt.Errorf("with what its aliases (as *name) repeat, it has more than %d bytes: write less, or without them", most)
	}
	return nil
}

// unfolding has the sizes of nodes that were looked at.
type unfolding map[*yaml.Node]int

// size is about how many bytes a node says; one that contains itself says all there are.
func (u unfolding) size(node *yaml.Node) int {
	if known, there := u[node]; there {
		return known
	}
	u[node] = math.MaxInt32 // until it is known: within itself, it has no end
	size := len(node.Value)
	if node.Kind == yaml.AliasNode {
		size = u.size(node.Alias)
	}
	for _, part := range node.Content {
		size = min(size+u.size(part), math.MaxInt32)
	}
	u[node] = size
	return size
}
