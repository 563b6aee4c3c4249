package plugin

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/render"
)

// document is an object of a file.
type document struct {
	*unstructured.Unstructured
	// File is "-" for stdin.
	File string
	// Line is the first line of the document in the file, from 1.
	Line int
	// Text is the YAML or JSON of the document, as in the file.
	Text []byte
}

// at returns the file and line of a document, as in app.yaml:12.
func (d document) at() string { return fmt.Sprintf("%s:%d", d.shown(), d.Line) }

// shown returns the name of the file for messages.
func (d document) shown() string {
	if d.File == stdin {
		return "stdin"
	}
	return d.File
}

// excerpt returns the lines around a line of the document, numbered as in the file.
func (d document) excerpt(line, column int) string {
	if line < 1 {
		return ""
	}
	return chart.Excerpt(strings.Repeat("\n", d.Line-1)+string(d.Text), d.Line-1+line, column)
}

const stdin = "-"

// extensions are those of the files that are read from a folder.
var extensions = []string{".yaml", ".yml", ".json"}

// documents reads the objects of files, folders and stdin, in order. Objects without a namespace get that of the flag,
// or "default", and those without a UID a placeholder.
func (s *cli) documents(names []string) ([]document, error) {
	var all []document
	for _, name := range names {
		files, err := filesOf(name)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			text, err := s.content(file)
			if err != nil {
				return nil, err
			}
			list, err := s.split(file, text)
			if err != nil {
				return nil, err
			}
			all = append(all, list...)
		}
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("there is no object in %s", strings.Join(names, ", "))
	}
	return all, nil
}

// content returns the text of a file, or of stdin.
func (s *cli) content(name string) ([]byte, error) {
	if name == stdin {
		return io.ReadAll(s.In)
	}
	return os.ReadFile(name)
}

// filesOf returns the path of a file, stdin as it is, or those of the files of a folder; as with kubectl, not of its
// subfolders.
func filesOf(name string) ([]string, error) {
	if name == stdin {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	entries, err := os.ReadDir(name)
	var files []string
	for _, entry := range entries {
		if !entry.IsDir() && slices.Contains(extensions, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(name, entry.Name()))
		}
	}
	return files, err
}

// split reads the documents of a file. They are separated by lines that begin with ---, as for kubectl.
func (s *cli) split(name string, content []byte) ([]document, error) {
	var list []document
	begin, line := 1, 0
	var text []byte
	add := func() error {
		d := document{Unstructured: &unstructured.Unstructured{}, File: name, Line: begin, Text: text}
		// line is that of the separator
		text, begin = nil, line+1
		content, err := yaml.YAMLToJSON(d.Text)
		if err == nil {
			err = utiljson.Unmarshal(content, &d.Object) // integers become int64, as from the API server
		}
		if err != nil {
			return fmt.Errorf("%s: %w", d.at(), err)
		}
		// only comments, as before a first separator
		if len(d.Object) == 0 {
			return nil
		}
		if d.GetAPIVersion() == "" || d.GetKind() == "" {
			return fmt.Errorf("%s: apiVersion and kind are missing: an object of a cluster has both", d.at())
		}
		if d.GetNamespace() == "" {
			d.SetNamespace(s.offlineNamespace())
		}
		if d.GetUID() == "" {
			d.SetUID(render.PlaceholderUID)
		}
		list = append(list, d)
		return nil
	}
	for part := range bytes.Lines(content) {
		line++
		if !bytes.HasPrefix(part, []byte("---")) {
			text = append(text, part...)
			continue
		}
		if err := add(); err != nil {
			return nil, err
		}
	}
	err := add()
	return list, err
}
