package importer

import (
	"context"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shorten removes each field without which the AppService renders the same objects. So it finds all defaults: those of
// the chart, of the API server, and those that follow from other fields.
func (i *Importer) shorten(ctx context.Context, s *subject, app *unstructured.Unstructured) {
	rendered, err := i.made(ctx, app)
	if err != nil {
		return
	}
	want := s.comparables(rendered)
	same := func() bool {
		rendered, err := i.made(ctx, app)
		return err == nil && reflect.DeepEqual(s.comparables(rendered), want) && (i.Check == nil || i.Check(app) == nil)
	}
	spec, _ := app.Object["spec"].(map[string]any)
	shortenMap(spec, same)
}

// shortenMap tries each field as a whole, then the fields within.
func shortenMap(content map[string]any, same func() bool) {
	for _, key := range slices.Sorted(maps.Keys(content)) {
		value := content[key]
		delete(content, key)
		if same() {
			continue
		}
		content[key] = value
		shortenValue(value, same)
	}
}

func shortenValue(value any, same func() bool) {
	switch value := value.(type) {
	case map[string]any:
		shortenMap(value, same)
	case []any:
		for _, item := range value {
			shortenValue(item, same)
		}
	}
}
