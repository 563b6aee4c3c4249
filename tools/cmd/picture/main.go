// Command picture draws the picture of the README, docs/picture.svg, from the text in docs/picture.yaml: "make generate".
package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	source  = "docs/picture.yaml"
	target  = "docs/picture.svg"
	padding = 14 // between the edge of a box and its text
	leading = 20 // from one line of text to the next
	gap     = 6  // between an arrow and what it points to
)

// picture is the content of docs/picture.yaml. Coordinates are pixels, from the upper left corner.
type picture struct {
	Width  int     `json:"width"`
	Height int     `json:"height"`
	About  string  `json:"about"` // for those who cannot see it
	Boxes  []box   `json:"boxes"`
	Arrows []arrow `json:"arrows"`
}

// box is a title and lines in a frame. A later one is drawn on top of an earlier one.
type box struct {
	Name   string   `json:"name"`
	Class  string   `json:"class"` // of the style sheet
	At     [2]int   `json:"at"`
	Width  int      `json:"width"`
	Height int      `json:"height"` // as its lines need it where it is 0
	Title  string   `json:"title"`
	Lines  []string `json:"lines"`
}

// arrow leads straight from one box to another that is beside, above or below it.
type arrow struct {
	From  string `json:"from"`
	To    string `json:"to"`
	Both  bool   `json:"both"`  // it points both ways
	Above string `json:"above"` // what is written over it
	Below string `json:"below"` // and under it, or beside it where it is vertical
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run() error {
	root, err := toolchain.Root()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(root, source))
	if err != nil {
		return err
	}
	svg, err := draw(text)
	if err != nil {
		return fmt.Errorf("cannot draw %s: %w", source, err)
	}
	return os.WriteFile(filepath.Join(root, target), svg, 0o644)
}

// style has colors for light and dark pages.
const style = `<style>
text{font:14px system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif;fill:#1f2328}
.title{font-weight:600}.note{fill:#59636e;font-size:13px;text-anchor:middle}.beside{text-anchor:start}
.code text{font-family:ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;font-size:13px}
rect{fill:#fff;stroke:#59636e}.frame rect{fill:#f6f8fa;stroke:#8c959f}.user rect{fill:#ddf4ff;stroke:#0969da}
.step rect{fill:#fff8c5;stroke:#9a6700}.real rect{fill:#dafbe1;stroke:#1a7f37}
path{stroke:#1f2328;stroke-width:1.5}marker path{fill:#1f2328;stroke:none}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.note{fill:#9198a1}rect{fill:#0d1117;stroke:#9198a1}.frame rect{fill:#151b23;stroke:#656c76}
.user rect{fill:#121d2f;stroke:#4493f8}.step rect{fill:#272115;stroke:#d29922}.real rect{fill:#12261e;stroke:#3fb950}
path{stroke:#f0f6fc}marker path{fill:#f0f6fc}}
</style>
<defs><marker id="tip" markerWidth="9" markerHeight="8" refX="8" refY="4" orient="auto-start-reverse"><path d="M0 0L9 4L0 8z"/></marker></defs>
`

// draw makes an SVG of the YAML of a picture.
func draw(text []byte) ([]byte, error) {
	var p picture
	if err := yaml.UnmarshalStrict(text, &p); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "<!-- Drawn by make generate from %s; do not edit. -->\n", source)
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img">`+"\n", p.Width, p.Height, p.Width, p.Height)
	fmt.Fprintf(&out, "<title>%s</title>\n%s", html.EscapeString(p.About), style)
	boxes := map[string]box{}
	for _, b := range p.Boxes {
		if b.Height == 0 {
			b.Height = (1+len(b.Lines))*leading + padding
		}
		boxes[b.Name] = b
		b.draw(&out)
	}
	for _, a := range p.Arrows {
		from, to := boxes[a.From], boxes[a.To]
		if from.Name == "" || to.Name == "" {
			return nil, fmt.Errorf("there is no box %q or no box %q", a.From, a.To)
		}
		if err := a.draw(&out, from, to); err != nil {
			return nil, fmt.Errorf("arrow from %s to %s: %w", a.From, a.To, err)
		}
	}
	out.WriteString("</svg>\n")
	return out.Bytes(), nil
}

func (b box) draw(out *bytes.Buffer) {
	fmt.Fprintf(out, `<g class="%s"><rect x="%d" y="%d" width="%d" height="%d" rx="6"/>`+"\n", b.Class, b.At[0], b.At[1], b.Width, b.Height)
	fmt.Fprintf(out, `<text class="title" x="%d" y="%d">%s</text>`+"\n", b.At[0]+padding, b.At[1]+leading+2, html.EscapeString(b.Title))
	for i, line := range b.Lines {
		fmt.Fprintf(out, `<text x="%d" y="%d" xml:space="preserve">%s</text>`+"\n", b.At[0]+padding, b.At[1]+(i+2)*leading+2, html.EscapeString(line))
	}
	out.WriteString("</g>\n")
}

func (a arrow) draw(out *bytes.Buffer, from, to box) error {
	tail := ""
	if a.Both {
		tail = ` marker-start="url(#tip)"`
	}
	line := func(x1, y1, x2, y2 int) {
		fmt.Fprintf(out, `<path d="M%d %dL%d %d" marker-end="url(#tip)"%s/>`+"\n", x1, y1, x2, y2, tail)
	}
	note := func(class string, x, y int, text string) {
		if text != "" {
			fmt.Fprintf(out, `<text class="%s" x="%d" y="%d">%s</text>`+"\n", class, x, y, html.EscapeString(text))
		}
	}
	if y, ok := middle(from.At[1], from.Height, to.At[1], to.Height); ok {
		x1, x2 := ends(from.At[0], from.Width, to.At[0], to.Width)
		line(x1, y, x2, y)
		note("note", (x1+x2)/2, y-8, a.Above)
		note("note", (x1+x2)/2, y+leading-2, a.Below)
		return nil
	}
	if x, ok := middle(from.At[0], from.Width, to.At[0], to.Width); ok {
		y1, y2 := ends(from.At[1], from.Height, to.At[1], to.Height)
		line(x, y1, x, y2)
		note("note beside", x+10, (y1+y2)/2+4, a.Below)
		return nil
	}
	return errors.New("the boxes are neither beside nor above each other")
}

// middle is the middle of the part that two ranges share.
func middle(start, length, otherStart, otherLength int) (int, bool) {
	from, to := max(start, otherStart), min(start+length, otherStart+otherLength)
	return (from + to) / 2, from < to
}

// ends are where a line from one range to another begins and ends.
func ends(from, length, to, otherLength int) (int, int) {
	if from < to {
		return from + length + gap/2, to - gap/2
	}
	return from - gap/2, to + otherLength + gap/2
}
