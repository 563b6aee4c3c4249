package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// section is the part of a page that is about one type.
type section struct {
	name, text string
	// paths are where the type is in a resource, as in spec.ports[].
	paths []string
}

var (
	// fieldRow is a row of a table: the field, its type, and the rest.
	fieldRow = regexp.MustCompile("(?m)^\\| `([A-Za-z]+)` _(.+?)_ \\| .*$")
	typeLink = regexp.MustCompile(`\(#([a-z0-9]+)\)`)
	// mention is the path of a field in the message of a rule.
	mention = regexp.MustCompile(`\bspec(?:\.[A-Za-z]+(?:\[\])?)+`)
	gaps    = regexp.MustCompile(`\n{3,}`)
	where   = regexp.MustCompile(`_Appears in:_\n(?:- .*\n)+`)
	// noise are validations that say nothing to users.
	noise = regexp.MustCompile(`(?:Maximum: 2\.147483647e\+09|XIntOrString: \\\{\\\}|Schemaless: \\\{\\\}|Optional: \\\{\\\}) <br />`)
	ends  = regexp.MustCompile(`(?m) *<br /> \|$`)
)

// arranged returns the page of crd-ref-docs with its types in the order of the spec, each with the paths that it has, the
// rules that name it, and an example.
func arranged(page string, rules []string, examples *samples) string {
	head, rest, _ := strings.Cut(page, "\n#### ")
	sections := map[string]*section{}
	var list []*section
	for part := range strings.SplitSeq(rest, "\n#### ") {
		name, text, _ := strings.Cut(part, "\n")
		list = append(list, &section{name: name, text: text})
		sections[strings.ToLower(name)] = list[len(list)-1]
	}
	ordered := reached(sections, sections["appservice"], "", nil)
	for _, one := range list {
		if !slices.Contains(ordered, one) {
			ordered = append(ordered, one)
		}
	}
	var out strings.Builder
	out.WriteString(head)
	for _, one := range ordered {
		fmt.Fprintf(&out, "\n#### %s\n%s", one.name, one.shown(about(one, ordered, rules), examples))
	}
	return gaps.ReplaceAllString(out.String(), "\n\n")
}

// reached appends a type and those of its fields to a list, depth first, and notes their paths.
func reached(all map[string]*section, of *section, path string, list []*section) []*section {
	if path != "" && !slices.Contains(of.paths, path) {
		of.paths = append(of.paths, path)
	}
	if !slices.Contains(list, of) {
		list = append(list, of)
	}
	for _, row := range fieldRow.FindAllStringSubmatch(of.text, -1) {
		link := typeLink.FindStringSubmatch(row[2])
		if link == nil || all[link[1]] == nil {
			continue
		}
		below := strings.TrimPrefix(path+"."+row[1], ".")
		switch {
		case strings.HasSuffix(row[2], " array"):
			below += "[]"
		case strings.HasPrefix(row[2], "object "):
			below += ".*"
		}
		list = reached(all, all[link[1]], below, list)
	}
	return list
}

// about returns the rules that name a field of a type, and none of a type below it.
func about(one *section, all []*section, rules []string) []string {
	var list []string
	for _, rule := range rules {
		for _, field := range mention.FindAllString(rule, -1) {
			if owner(field, all) == one && !slices.Contains(list, rule) {
				list = append(list, rule)
			}
		}
	}
	return list
}

// owner returns the type with the longest path that a field is in.
func owner(field string, all []*section) *section {
	var best *section
	length := 0
	for _, one := range all {
		for _, path := range one.paths {
			inside := field == path || strings.HasPrefix(field, path+".") || strings.TrimSuffix(path, "[]") == field
			if inside && len(path) > length {
				best, length = one, len(path)
			}
		}
	}
	return best
}

// shown returns the text of a type.
func (s *section) shown(rules []string, examples *samples) string {
	ofSpec := len(s.paths) > 0 && strings.HasPrefix(s.paths[0], "spec")
	text := where.ReplaceAllLiteralString(s.text, s.places())
	text = fieldRow.ReplaceAllStringFunc(text, func(row string) string {
		field := fieldRow.FindStringSubmatch(row)
		if ofSpec && !strings.Contains(row, `Optional: \{\}`) && !strings.HasSuffix(row, "| |") {
			row = strings.TrimSuffix(row, "|") + "Required |"
		}
		if len(s.paths) > 0 && s.paths[0] == "spec" && !strings.Contains(field[2], "(#") {
			row = examples.linked(row, field[1])
		}
		return row
	})
	text = ends.ReplaceAllString(noise.ReplaceAllString(text, ""), " |")
	var out strings.Builder
	out.WriteString(strings.TrimRight(text, "\n") + "\n\n")
	for i, rule := range rules {
		if i == 0 {
			out.WriteString("Besides:\n\n")
		}
		fmt.Fprintf(&out, "- %s\n", lines(rule))
	}
	for _, path := range s.paths {
		out.WriteString(examples.block(path))
	}
	return out.String() + "\n"
}

// places says where a type is.
func (s *section) places() string {
	if len(s.paths) == 0 {
		return ""
	}
	return "At `" + strings.Join(s.paths, "`, `") + "`.\n"
}
