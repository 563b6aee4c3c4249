package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const sampleFolder = "config/samples"

// samples are the samples of AppServices, by their file names.
type samples struct{ text map[string]string }

var topField = regexp.MustCompile(`(?m)^  ([A-Za-z]+):`)

// readSamples reads the samples of AppServices.
func readSamples(root string) (*samples, error) {
	files, err := filepath.Glob(filepath.Join(root, sampleFolder, "*.yaml"))
	s := &samples{map[string]string{}}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for part := range strings.SplitSeq("\n"+string(text), "\n---\n") {
			if _, spec, found := strings.Cut(part, "\nspec:\n"); found && strings.Contains(part, "\nkind: AppService\n") {
				s.text[filepath.Base(file)] += spec
			}
		}
	}
	return s, err
}

// of returns the name of the sample for a field of the spec: the one named for it, else the one with the fewest fields;
// empty if there is none.
func (s *samples) of(field string) string {
	best, fewest := "", 0
	for name, spec := range s.text {
		if s.excerpt(name, field) == "" || name == "full.yaml" || name == "minimal.yaml" {
			continue
		}
		size := len(topField.FindAllString(spec, -1))
		if name == "appservice_"+strings.ToLower(field)+".yaml" {
			size = 0
		}
		if best == "" || size < fewest || size == fewest && name < best {
			best, fewest = name, size
		}
	}
	return best
}

// excerpt returns the lines of a field of the spec in a sample.
func (s *samples) excerpt(name, field string) string {
	var out strings.Builder
	for line := range strings.SplitSeq(s.text[name], "\n") {
		switch {
		case out.Len() == 0 && !strings.HasPrefix(line, "  "+field+":"):
		case out.Len() == 0, strings.HasPrefix(line, "   "), strings.HasPrefix(line, "  - "):
			out.WriteString(line + "\n")
		default:
			return out.String()
		}
	}
	return out.String()
}

// linked returns the row of a field with a link to its sample.
func (s *samples) linked(row, field string) string {
	name := s.of(field)
	cells := strings.SplitN(row, " | ", 3)
	if name == "" || len(cells) < 3 {
		return row
	}
	cells[1] += fmt.Sprintf(" ([sample](../../%s/%s))", sampleFolder, name)
	return strings.Join(cells, " | ")
}

// block returns the example of a field of the spec, empty for what is within one.
func (s *samples) block(path string) string {
	field, of := strings.CutPrefix(strings.TrimSuffix(path, "[]"), "spec.")
	name := s.of(field)
	if !of || name == "" {
		return ""
	}
	return fmt.Sprintf("\n[%[1]s](../../%[2]s/%[1]s):\n\n```yaml\nspec:\n%[3]s```\n", name, sampleFolder, s.excerpt(name, field))
}
