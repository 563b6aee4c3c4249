package main

import (
	"bytes"
	"go/scanner"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
)

var (
	// code of Markdown: fenced, inline, headings, which may be nouns, and the targets of links.
	markdownCode = regexp.MustCompile("(?ms)^ *```.*?^ *```|`[^`\n]+`|^#[^\n]*|\\]\\([^)\\s]*\\)")
	released     = regexp.MustCompile(`(?s)\n## .*?(\n## .*)`) // the sections after the first
	yamlComment  = regexp.MustCompile(`(?s)\{\{-?\s*/\*.*?\*/|(?:^|\s)#\s[^\n]*`)
	product      = regexp.MustCompile(`^(internal|cmd|api)/`) // whose messages people read
	directive    = regexp.MustCompile(`^//(\S|\s*\+)`)
)

// prose returns the text of a file with each character of code as |, so that lines and phrases stay where they are.
func prose(file string, content []byte) []byte {
	switch extension := filepath.Ext(file); {
	case extension == ".go":
		return goProse(content, product.MatchString(file) && !strings.HasSuffix(file, "_test.go"))
	case extension == ".md":
		if found := released.FindSubmatchIndex(content); found != nil && file == "CHANGELOG.md" {
			content = content[:found[2]]
		}
		return markdownCode.ReplaceAllFunc(content, hide)
	case (extension == ".yaml" || extension == ".tpl") && strings.Contains(file, "chart"):
		return keep(content, yamlComment.FindAllIndex(content, -1))
	}
	return nil
}

// goProse keeps comments and, with messages, string literals and directives, such as the messages of CEL rules.
func goProse(content []byte, messages bool) []byte {
	var kept [][]int
	var scan scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(content))
	scan.Init(file, content, nil, scanner.ScanComments)
	for {
		position, kind, text := scan.Scan()
		switch start := file.Offset(position); {
		case kind == token.EOF:
			return keep(content, kept)
		case kind == token.COMMENT && (messages || !directive.MatchString(text)), kind == token.STRING && messages:
			kept = append(kept, []int{start, start + len(text)})
		}
	}
}

// keep returns a text with everything hidden that is not in the given places.
func keep(content []byte, places [][]int) []byte {
	var text []byte
	end := 0
	for _, place := range places {
		text = append(text, hide(content[end:place[0]])...)
		comment := bytes.ReplaceAll(content[place[0]:place[1]], []byte("//"), []byte("  "))
		text = append(text, bytes.ReplaceAll(comment, []byte("#"), []byte(" "))...)
		end = place[1]
	}
	return append(text, hide(content[end:])...)
}

// hide replaces all characters but white space by |.
func hide(code []byte) []byte {
	hidden := bytes.Clone(code)
	for i, c := range hidden {
		if c > ' ' {
			hidden[i] = '|'
		}
	}
	return hidden
}
