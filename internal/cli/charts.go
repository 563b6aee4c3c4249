package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"k8s.io/apimachinery/pkg/runtime/schema"

	appservice "github.com/example/appservice-operator"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/watches"
)

const watchesFile = "watches.yaml"

// served is what the operator would serve with some charts.
type served struct {
	// Kinds in the order of watches.yaml.
	Kinds   []schema.GroupVersionKind
	Watches map[schema.GroupVersionKind]watches.Watch
	// Renderers are those of the manager but for the platform's policy, which only it knows.
	Renderers map[schema.GroupVersionKind]*render.Renderer
}

// chartsIn loads the charts of a folder, which has helm-charts in it, as --chart-dir of the manager; "" stands for those that this program was
// built with. A folder without watches.yaml has the one that this program was built with.
func chartsIn(dir string) (*served, error) {
	var files fs.FS = appservice.Files
	if dir != "" {
		files = os.DirFS(dir)
	}
	text, err := fs.ReadFile(files, watchesFile)
	if errors.Is(err, fs.ErrNotExist) {
		text, err = fs.ReadFile(appservice.Files, watchesFile)
	}
	if err != nil {
		return nil, err
	}
	list, err := watches.Load(text, files)
	if err != nil {
		return nil, err
	}
	out := &served{Watches: map[schema.GroupVersionKind]watches.Watch{}, Renderers: map[schema.GroupVersionKind]*render.Renderer{}}
	for _, entry := range list {
		kind := entry.GroupVersionKind
		out.Kinds = append(out.Kinds, kind)
		out.Watches[kind] = entry
		out.Renderers[kind] = render.For(entry, entry.Chart)
	}
	return out, nil
}

// renderer returns that of a document's kind.
func (s *served) renderer(d document) (*render.Renderer, error) {
	if r := s.Renderers[d.GroupVersionKind()]; r != nil {
		return r, nil
	}
	return nil, fmt.Errorf("%s: %s is not served: these are: %v", d.at(), d.GroupVersionKind(), s.Kinds)
}
