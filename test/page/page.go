// Package page reads what documents show of terminals and of files, for tests that do the same.
package page

import (
	"fmt"
	"strings"
)

// Block is a block of code.
type Block struct {
	Line     int // at which it begins
	Language string
	Text     string
}

// Blocks reads all blocks of a document. A block sh with commands and a block text behind it, with what the last of them
// prints, are read as one block of a terminal: people copy the first as it is.
func Blocks(document string) ([]Block, error) {
	var list []Block
	var open *Block
	ran := false // only empty lines are behind a block sh
	for i, line := range strings.Split(document, "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, "```"):
			open = &Block{Line: i + 1, Language: strings.TrimPrefix(line, "```")}
		case open != nil && line == "```":
			switch {
			case open.Language == "sh":
				list, ran = append(list, Block{open.Line, "console", prompted(open.Text)}), true
			case open.Language == "text" && ran:
				list[len(list)-1].Text += open.Text
				ran = false
			default:
				list, ran = append(list, *open), false
			}
			open = nil
		case open != nil:
			open.Text += line + "\n"
		case line != "":
			ran = false
		}
	}
	if open != nil {
		return nil, fmt.Errorf("line %d: the block of code has no end", open.Line)
	}
	return list, nil
}

// prompted puts commands behind a prompt.
func prompted(commands string) (text string) {
	continued := false
	for line := range strings.Lines(commands) {
		if !continued {
			text += "$ "
		}
		text += line
		continued = strings.HasSuffix(line, "\\\n")
	}
	return text
}

// File returns the name of a file, which is a comment in its first line, and its content.
func (b Block) File() (name, content string, err error) {
	first, content, _ := strings.Cut(b.Text, "\n")
	name, found := strings.CutPrefix(first, "# ")
	if !found {
		err = fmt.Errorf("line %d: the first line of a file is a comment with its name, not %q", b.Line, first)
	}
	return name, content, err
}

// Command is one that a terminal shows, with the lines that it prints.
type Command struct {
	Line         int
	Text, Prints string
}

// Commands reads the commands of a terminal. A line that ends with a backslash continues in the next one.
func (b Block) Commands() []Command {
	var list []Command
	continued := false
	for i, line := range strings.Split(strings.TrimSuffix(b.Text, "\n"), "\n") {
		typed, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isCommand:
			list = append(list, Command{Line: b.Line + 1 + i, Text: typed})
		case len(list) == 0:
			continue
		case continued:
			list[len(list)-1].Text += "\n" + line
		default:
			list[len(list)-1].Prints += line + "\n"
		}
		continued = strings.HasSuffix(line, `\`) && (isCommand || continued)
	}
	return list
}
