package render

import (
	"text/template/parse"

	appchart "github.com/example/appservice-operator/internal/chart"
)

// instrument changes a parsed template so that its work is counted: each round of a loop begins with an empty text, which is written like
// any other, and {{ template }} becomes {{ include }}, which counts its depth.
func instrument(tree *parse.Tree) {
	if tree != nil {
		appchart.EachList(tree.Root, instrumentList)
	}
}

func instrumentList(list *parse.ListNode) {
	for i, node := range list.Nodes {
		switch node := node.(type) {
		case *parse.RangeNode:
			node.List.Nodes = append([]parse.Node{&parse.TextNode{NodeType: parse.NodeText, Pos: node.Pos}}, node.List.Nodes...)
		case *parse.TemplateNode:
			list.Nodes[i] = included(node)
		}
	}
}

// included returns {{ include NAME PIPELINE }}.
func included(node *parse.TemplateNode) *parse.ActionNode {
	var data parse.Node = &parse.NilNode{NodeType: parse.NodeNil, Pos: node.Pos}
	if node.Pipe != nil {
		data = node.Pipe
	}
	name := &parse.StringNode{NodeType: parse.NodeString, Pos: node.Pos, Quoted: node.String(), Text: node.Name}
	function := parse.NewIdentifier("include").SetPos(node.Pos)
	call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: node.Pos, Args: []parse.Node{function, name, data}}
	pipe := &parse.PipeNode{NodeType: parse.NodePipe, Pos: node.Pos, Line: node.Line, Cmds: []*parse.CommandNode{call}}
	return &parse.ActionNode{NodeType: parse.NodeAction, Pos: node.Pos, Line: node.Line, Pipe: pipe}
}
