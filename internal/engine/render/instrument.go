package render

import "text/template/parse"

// instrument changes a node of a template so that its work is counted: each round of a loop begins with an empty text,
// which is written like any other, and {{ template }} becomes {{ include }}, which counts its depth.
func instrument(node parse.Node) {
	switch node := node.(type) {
	case *parse.RangeNode:
		round := &parse.TextNode{NodeType: parse.NodeText, Pos: node.Pos}
		node.List.Nodes = append([]parse.Node{round}, node.List.Nodes...)
	case *parse.ListNode:
		for i, child := range node.Nodes {
			if call, is := child.(*parse.TemplateNode); is {
				node.Nodes[i] = included(call)
			}
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
