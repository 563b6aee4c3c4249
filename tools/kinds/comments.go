package kinds

import (
	"cmp"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

var (
	// paramLine is how Bitnami's readme-generator describes a value, anywhere in the file.
	paramLine = regexp.MustCompile(`^@(?:param|extra)\s+(\S+)\s+(?:\[[^\]]*\]\s*)?(.+)`)
	// docsLine is how helm-docs begins a description, with the value's path unless it stands above the value.
	docsLine = regexp.MustCompile(`^(?:([\w.-]+) )?-- (?:\([^)]*\) )?(.+)`)
	// disabled is a line of YAML that a # takes away.
	disabled = regexp.MustCompile(`^(- |[a-z][\w./-]*:(\s|$)|[{}\[\]])`)
	// sentence is up to a period that ends one.
	sentence = regexp.MustCompile(`^(.*?[^.\s]\.)\s+[A-Z(\x60]`)
)

// longestDescription is that of a property, in bytes.
const longestDescription = 300

// comments returns the first sentence of what a values.yaml says of each value, by its path, as in image.tag.
func comments(text []byte) map[string]string {
	found := map[string]string{}
	lines := strings.Split(string(text), "\n")
	for i, line := range lines {
		if said, is := commentOf(line); is {
			for _, form := range []*regexp.Regexp{paramLine, docsLine} {
				if match := form.FindStringSubmatch(said); match != nil && match[1] != "" {
					found[match[1]] = firstSentence(strings.Join(append([]string{match[2]}, further(lines[i+1:])...), " "))
				}
			}
		}
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil || len(document.Content) == 0 {
		return found // Helm reports the error
	}
	var look func(node *yaml.Node, path string)
	look = func(node *yaml.Node, path string) {
		if node.Kind != yaml.MappingNode {
			return
		}
		for i := 0; i+1 < len(node.Content); i += 2 {
			key, value := node.Content[i], node.Content[i+1]
			at := path + key.Value
			if found[at] == "" {
				beside, _ := commentOf(cmp.Or(value.LineComment, key.LineComment))
				if said := cmp.Or(above(lines, key.Line), firstSentence(beside)); said != "" {
					found[at] = said
				}
			}
			look(value, at+".")
		}
	}
	look(document.Content[0], "")
	return found
}

// commentOf returns the text of a line that is a comment.
func commentOf(line string) (text string, is bool) {
	line = strings.TrimSpace(line)
	return strings.Trim(line, "# \t"), strings.HasPrefix(line, "#")
}

// further are the lines that continue a description: comments up to an empty one, or one with a mark.
func further(lines []string) []string {
	var list []string
	for _, line := range lines {
		said, is := commentOf(line)
		if !is || said == "" || strings.HasPrefix(said, "@") || disabled.MatchString(said) || docsLine.MatchString(said) {
			break
		}
		list = append(list, said)
	}
	return list
}

// above returns the first sentence of the comment that ends above a line, which counts from 1.
func above(lines []string, line int) string {
	first := line - 1
	for first > 0 && strings.HasPrefix(strings.TrimSpace(lines[first-1]), "#") {
		first--
	}
	for i := first; i < line-1; i++ {
		if said, _ := commentOf(lines[i]); docsLine.MatchString(said) {
			match := docsLine.FindStringSubmatch(said)
			return firstSentence(strings.Join(append([]string{match[2]}, further(lines[i+1:line-1])...), " "))
		}
	}
	for i := first; i < line-1; i++ {
		// A line across the page, or the word of a heading, says nothing.
		if said := firstSentence(strings.Join(further(lines[i:line-1]), " ")); strings.Contains(said, " ") {
			return said
		}
	}
	return ""
}

func firstSentence(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	for from := 0; ; {
		match := sentence.FindStringSubmatchIndex(text[from:])
		if match == nil {
			break
		}
		end := from + match[3]
		if !strings.HasSuffix(text[:end], "e.g.") && !strings.HasSuffix(text[:end], "i.e.") {
			text = text[:end]
			break
		}
		from = end
	}
	if len(text) > longestDescription {
		text = strings.ToValidUTF8(text[:longestDescription], "") + "…"
	}
	return text
}
