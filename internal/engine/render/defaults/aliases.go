package defaults

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"
)

// folded returns an error if a text exceeds the limit once each alias is expanded: from a few bytes, aliases make
// gigabytes. Invalid YAML is reported by the reader.
func folded(text string) error {
	document := &yaml.Node{}
	if yaml.Unmarshal([]byte(text), document) != nil {
		return nil
	}
	if size := (unfolding{}).size(document); size > most {
		return fmt.Errorf("with its aliases (as *name) expanded, has more than %d bytes: shorten it, or use no aliases", most)
	}
	return nil
}

// unfolding holds the sizes of nodes that were visited.
type unfolding map[*yaml.Node]int

// size estimates the expanded size of a node in bytes; a node that contains itself has no limit.
func (u unfolding) size(node *yaml.Node) int {
	if known, there := u[node]; there {
		return known
	}
	u[node] = math.MaxInt32 // until it is known: within itself, it is infinite
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
