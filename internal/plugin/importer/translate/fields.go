package translate

import (
	"k8s.io/utils/ptr"

	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

// fields reads a map field by field; whole becomes false if a field is not read.
type fields struct {
	content map[string]any
	whole   *bool
}

func (f fields) text(name string) string {
	text, _ := f.content[name].(string)
	delete(f.content, name)
	return text
}

func (f fields) sub(name string) map[string]any {
	sub, _ := f.content[name].(map[string]any)
	delete(f.content, name)
	return sub
}

func (f fields) list(name string) []map[string]any {
	items := read.Maps(f.content[name])
	delete(f.content, name)
	return items
}

// may drops a field that has its default.
func (f fields) may(name string, value any) {
	if f.content[name] == value {
		delete(f.content, name)
	}
}

func (f fields) done() { *f.whole = *f.whole && len(f.content) == 0 }

// number reads a whole number; nil if there is none.
func (f fields) number(name string) *int32 {
	value, found := f.content[name].(int64)
	if !found {
		return nil
	}
	delete(f.content, name)
	return ptr.To(int32(value)) //nolint:gosec // ports, weights and seconds, by the schema of their kind
}

// texts reads a list of texts.
func (f fields) texts(name string) (texts []string) {
	items, _ := f.content[name].([]any)
	delete(f.content, name)
	for _, item := range items {
		text, _ := item.(string)
		texts = append(texts, text)
	}
	return texts
}

// path reads the path of a redirect or a rewrite: one that replaces all of it, or what the rule matches.
func (f fields) path() (whole, prefix string) {
	path := fields{f.sub("path"), f.whole}
	path.text("type")
	whole, prefix = path.text("replaceFullPath"), path.text("replacePrefixMatch")
	path.done()
	return whole, prefix
}
