package tree

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"

	"github.com/example/appservice-operator/internal/engine/text"
)

// Type is the type of the subject of a node.
type Type string

// The types of nodes.
const (
	TypeResource  Type = "resource"
	TypeCondition Type = "condition"
	TypeObject    Type = "object"
	TypeCause     Type = "cause"
	TypePod       Type = "pod"
	TypeWords     Type = "words"
	TypeHint      Type = "hint"
	TypeHeld      Type = "held"
	TypeValue     Type = "value"
	TypeGap       Type = "gap"
	TypeGroup     Type = "group"
)

// State is the state of the subject of a node; empty if it has none.
type State string

// The states of nodes.
const (
	StateReady   State = "Ready"
	StateWaiting State = "Waiting"
	StateFailed  State = "Failed"
	StateWarning State = "Warning"
)

// Node is one line of a tree.
type Node struct {
	Type Type `json:"type"`
	// Name of its subject, as in "Deployment web" or "ImageNotFound".
	Name string `json:"name"`
	// Stage of a release in which an object is written; empty for the main one.
	Stage string `json:"stage,omitempty"`
	State State  `json:"state,omitempty"`
	// Ready is how many of how many are ready, for example 1/2.
	Ready   string `json:"ready,omitempty"`
	Message string `json:"message,omitempty"`
	// Since is when it was created.
	Since *metav1.Time `json:"since,omitempty"`
	// Until is when it ends, or changes at the latest.
	Until    *metav1.Time `json:"until,omitempty"`
	Children []*Node      `json:"children,omitempty"`
}

// add appends children, except for nil ones.
func (n *Node) add(children ...*Node) *Node {
	for _, child := range children {
		if child != nil {
			n.Children = append(n.Children, child)
		}
	}
	return n
}

// group is a heading over nodes; nil if there are none.
func group(name string, children []*Node) *Node {
	if len(children) == 0 {
		return nil
	}
	return &Node{Type: TypeGroup, Name: name, Children: children}
}

// Print writes a node and all below it, in lines of at most width characters if that is not 0. Paint colors text by its
// state; times are shown relative to now.
func (n *Node) Print(out io.Writer, paint func(State, string) string, now time.Time, width int) error {
	var failed error
	n.walk("", "", func(lead, below string, n *Node) {
		if failed == nil {
			_, failed = fmt.Fprintln(out, lead+n.lines(paint, now, below, width))
		}
	})
	return failed
}

// leastWidth is how narrow the text of a deep node may become.
const leastWidth = 24

// lines returns the text of a node, with what is below it before each further line.
func (n *Node) lines(paint func(State, string) string, now time.Time, below string, width int) string {
	if len(n.Children) > 0 {
		below += "│  "
	} else {
		below += "   "
	}
	line := n.line(now)
	if width > 0 {
		width = max(leastWidth, width-utf8.RuneCountInString(below))
		line = strings.Join(text.Wrap(line, width), "\n"+below)
	}
	if name := text.Unbroken(n.Name); strings.HasPrefix(line, name) {
		return paint(n.State, name) + line[len(name):]
	}
	return line
}

// walk visits a node and all below it, with the lines that lead to each, and to what is below it.
func (n *Node) walk(lead, below string, visit func(lead, below string, n *Node)) {
	visit(lead, below, n)
	for i, child := range n.Children {
		if i == len(n.Children)-1 {
			child.walk(below+"└─ ", below+"   ", visit)
		} else {
			child.walk(below+"├─ ", below+"│  ", visit)
		}
	}
}

func (n *Node) line(now time.Time) string {
	line := text.Unbroken(n.Name)
	if n.Stage != "" {
		line += " [" + text.Unbroken(n.Stage) + "]"
	}
	for _, more := range []string{text.Unbroken(n.Ready), text.Unbroken(n.Message)} {
		switch {
		case more == "":
		case n.Type == TypeHint, n.Type == TypeWords, n.Type == TypeCause, n.Type == TypeGap:
			line += ": " + more
		default:
			line += "  " + more
		}
	}
	if n.Since != nil && !n.Since.IsZero() {
		line += "  " + duration.HumanDuration(now.Sub(n.Since.Time)) + " old"
	}
	if n.Until != nil {
		line += " (" + untils[n.Type] + when(n.Until.Time, now) + ")"
	}
	return line
}

// untils name the event at the Until time of a node.
var untils = map[Type]string{TypeObject: "counts as stalled at ", TypeCause: "counts as lasting at "}

// when formats a time and the distance to it.
func when(at, now time.Time) string {
	clock := at.UTC().Format(time.RFC3339)
	if at.After(now) {
		return fmt.Sprintf("%s, in %s", clock, duration.HumanDuration(at.Sub(now)))
	}
	return fmt.Sprintf("%s, %s ago", clock, duration.HumanDuration(now.Sub(at)))
}
