package plugin

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/example/appservice-operator/internal/engine/text"
)

// The narrowest and the widest lines that text is wrapped to, in characters.
const (
	narrowest = 60
	widest    = 200
)

// width returns how many characters the lines of an output may have: those of its terminal; 0, for no limit, if it is
// none, since what reads a pipe or a file expects whole lines.
func width(out io.Writer) int {
	file, is := raw(out).(*os.File)
	if !is {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return min(max(columns, narrowest), widest)
}

// wrapped returns a text whose lines have at most width characters, if that is not 0: what does not fit continues in
// further lines, indented.
func wrapped(of string, width int, indent string) string {
	if width == 0 {
		return of
	}
	lines := strings.Split(of, "\n")
	for i, line := range lines {
		if utf8.RuneCountInString(line) > width {
			lead := line[:len(line)-len(strings.TrimLeft(line, " "))]
			lines[i] = lead + strings.Join(text.Wrap(line[len(lead):], width-len(lead)-len(indent)), "\n"+lead+indent)
		}
	}
	return strings.Join(lines, "\n")
}

// printTable prints rows below a heading, with blanks between the columns. If the lines are longer than width, which
// is not 0, the last column, which is text, goes below its row.
func printTable(out io.Writer, width, blanks int, heading []string, rows [][]string) error {
	whole, longest := table(blanks, heading, rows)
	last := len(heading) - 1
	if width == 0 || longest <= width {
		_, err := io.WriteString(out, whole)
		return err
	}
	short := make([][]string, len(rows))
	for i := range rows {
		short[i] = rows[i][:last]
	}
	above, _ := table(blanks, heading[:last], short)
	const indent = "    "
	below := []string{""} // the heading has none
	for _, row := range rows {
		below = append(below, text.Line(row[last]))
	}
	for i, line := range strings.Split(strings.TrimSuffix(above, "\n"), "\n") {
		line = strings.TrimRight(line, " ")
		if below[i] != "" && below[i] != noValue {
			line += "\n" + indent + strings.Join(text.Wrap(below[i], width-len(indent)), "\n"+indent)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

// noValue stands in cells that have nothing.
const noValue = "-"

// table returns the text of a table, and the characters of its longest line. A cell that has line breaks or controls
// could look like further rows.
func table(blanks int, heading []string, rows [][]string) (content string, longest int) {
	var out bytes.Buffer
	writer := tabwriter.NewWriter(&out, 0, 0, blanks, ' ', 0)
	for _, cells := range append([][]string{heading}, rows...) {
		line := make([]string, len(cells))
		for i, cell := range cells {
			line[i] = text.Line(cell)
		}
		_, _ = fmt.Fprintln(writer, strings.Join(line, "\t"))
	}
	_ = writer.Flush() // a buffer takes all
	for line := range strings.Lines(out.String()) {
		longest = max(longest, utf8.RuneCountInString(strings.TrimRight(line, "\n")))
	}
	return out.String(), longest
}
