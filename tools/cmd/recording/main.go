// Command recording makes an animated picture, an SVG, of one step of the demo. It reads what the demo prints, and writes the picture:
//
//	go run ./test/demo | go run ./tools/cmd/recording 'Give it an image' > docs/recording.svg
package main

import (
	"fmt"
	"html"
	"io"
	"os"
	"strings"
)

func main() {
	text, err := io.ReadAll(os.Stdin)
	if err == nil && len(os.Args) != 2 {
		err = fmt.Errorf("it takes the first words of the title of a step")
	}
	var shown []string
	if err == nil {
		shown, err = step(string(text), os.Args[1])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
	fmt.Print(picture(shown))
}

// step returns the lines of a step of the demo: commands, without what all of them have, and their outputs. Lists of pods are left out,
// because their names are others in each run. The error says that there is no such step, or that the demo did not get to its end.
func step(output, title string) ([]string, error) {
	_, after, found := strings.Cut(output, " "+title)
	section, _, ended := strings.Cut(after, "\n    done in ")
	if !found || !ended {
		return nil, fmt.Errorf("the demo has not done a step %q", title)
	}
	var list []string
	left := false
	for _, line := range strings.Split(section, "\n")[1:] {
		if strings.HasPrefix(line, "$ ") {
			left = strings.HasPrefix(line, "$ kubectl get pods")
		} else if left && strings.HasSuffix(line, ":") {
			left = false // what the demo says
		}
		if !left {
			list = append(list, strings.Replace(line, " --namespace=appservice-demo", "", 1))
		}
	}
	return list, nil
}

const (
	columns = 108 // of text; longer lines continue in the next, indented
	indent  = "  "
	width   = columns*8 + 2*margin
	height  = 20 // of a line
	margin  = 16
	// The time that a command takes to be read, and a line of its output, in seconds.
	typing, printing = 1.5, 0.15
)

const style = `text{font:13px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#f0f6fc;white-space:pre;animation:show 1ms both}
rect{fill:#0d1117}.command{fill:#7ee787}@keyframes show{from{opacity:0}to{opacity:1}}
@media (prefers-reduced-motion:reduce){text{animation:none}}`

// picture returns an SVG in which the lines appear one after the other. Where nothing moves, all of them are shown.
func picture(lines []string) string {
	var body strings.Builder
	at, y := 0.0, margin
	for i, line := range lines {
		class, isCommand := "", strings.HasPrefix(line, "$ ")
		if isCommand {
			class = ` class="command"`
		}
		if isCommand && i > 0 {
			at += typing
		}
		for _, part := range wrapped(line) {
			y += height
			fmt.Fprintf(&body, "<text%s x=\"%d\" y=\"%d\" xml:space=\"preserve\" style=\"animation-delay:%.2fs\">%s</text>\n",
				class, margin, y-height/4, at, html.EscapeString(part))
		}
		at += printing
	}
	y += margin
	return fmt.Sprintf("<!-- Made by make recording from the output of make demo. Do not edit. -->\n"+
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %[1]d %[2]d\" width=\"%[1]d\" height=\"%[2]d\" role=\"img\">\n"+
		"<title>A terminal: an image with a typo is applied, the status says what is wrong and what to do, and the right image recovers.</title>\n"+
		"<style>\n%[3]s\n</style>\n<rect width=\"%[1]d\" height=\"%[2]d\" rx=\"8\"/>\n%[4]s</svg>\n", width, y, style, body.String())
}

// wrapped returns a line in parts that fit, cut at spaces if there are any.
func wrapped(line string) (parts []string) {
	for len(line) > columns {
		end := strings.LastIndex(line[:columns], " ")
		if end < len(indent) {
			end = columns
		}
		parts, line = append(parts, line[:end]), indent+strings.TrimSpace(line[end:])
	}
	return append(parts, line)
}
