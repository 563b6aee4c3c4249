package render

import (
	"bytes"
	"text/template"
	"text/template/parse"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// trace follows from which line of a file each line of its template's output comes. It costs a parse and another
// render, so it is used only if something is wrong.
type trace struct {
	file  string // being traced
	text  string // of the file
	marks map[*byte]int
	on    bool
	line  int // current line of the template
	// origins are the lines of the file from which the written lines come.
	origins []int
	fresh   bool // the next byte begins a line
}

// mark puts a mark before each line and each action of the template of the file.
func (t *trace) mark(all *template.Template) {
	t.marks, t.fresh, t.line = map[*byte]int{}, true, 1
	if parsed := all.Lookup(t.file); parsed != nil {
		appchart.Inspect(parsed.Root, t.markList)
	}
}

func (t *trace) markList(node parse.Node) {
	list, is := node.(*parse.ListNode)
	if !is {
		return
	}
	var marked []parse.Node
	for _, node := range list.Nodes {
		if text, is := node.(*parse.TextNode); is {
			marked = append(marked, t.lines(text)...)
		} else {
			marked = append(marked, t.markOf(int(node.Position())), node)
		}
	}
	list.Nodes = marked
}

// lines splits a text into lines with a mark each.
func (t *trace) lines(node *parse.TextNode) []parse.Node {
	if len(node.Text) == 0 {
		return []parse.Node{node}
	}
	var out []parse.Node
	at := int(node.Pos)
	for _, line := range bytes.SplitAfter(node.Text, []byte("\n")) {
		if len(line) > 0 {
			out = append(out, t.markOf(at), &parse.TextNode{NodeType: parse.NodeText, Pos: parse.Pos(at), Text: line})
		}
		at += len(line)
	}
	return out
}

// markOf returns a text that stands for the line of a position. Its address distinguishes it from others.
func (t *trace) markOf(position int) parse.Node {
	text := []byte{0}
	t.marks[&text[0]] = 1 + bytes.Count([]byte(t.text[:min(position, len(t.text))]), []byte("\n"))
	return &parse.TextNode{NodeType: parse.NodeText, Pos: parse.Pos(position), Text: text}
}

// begin records which template is executed.
func (t *trace) begin(name string) { t.on = name == t.file }

// passes reports whether a text is a mark, and records it.
func (t *trace) passes(data []byte) bool {
	line, marked := t.marks[&data[0]]
	if marked {
		t.line = line
	}
	return marked
}

// wrote records output.
func (t *trace) wrote(data []byte) {
	if !t.on {
		return
	}
	for _, char := range data {
		if t.fresh {
			t.origins = append(t.origins, t.line)
		}
		t.fresh = char == '\n'
	}
}

// origin returns the line of the file that a line comes from, both counted from 1.
func (t *trace) origin(line int) int {
	if line < 1 || len(t.origins) == 0 {
		return 0
	}
	return t.origins[min(line, len(t.origins))-1]
}
