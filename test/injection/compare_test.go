//go:build cluster

package injection

import (
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
)

// computed are fields that depend on other texts: digests, and how an image is pulled, which follows from its tag.
var computed = []string{postrender.AnnotationStamp, v1.AnnotationPatched, "app.example.com/config-checksum", "imagePullPolicy"}

// replaced is the content of the objects, by kind and name, with a text in place of the marker, unless that is empty, and without what is
// computed from texts.
func replaced(result *render.Result, text string) map[string]any {
	with := strings.NewReplacer()
	if text != "" {
		encode := base64.StdEncoding.EncodeToString
		with = strings.NewReplacer(marker, text, encode([]byte(marker)), encode([]byte(text)))
	}
	objects := map[string]any{}
	for _, object := range result.Objects {
		texts := with.Replace
		if name := object.GetName(); object.GetKind() == "Job" { // which ends with a digest of what it runs
			texts = func(text string) string { return with.Replace(strings.ReplaceAll(text, name, "run")) }
		}
		objects[texts(kube.KeyOf(object).String())] = walk(object.Object, texts)
	}
	return objects
}

// outline is what objects there are and which fields they have, whatever these hold.
func outline(result *render.Result) map[string]any {
	objects := map[string]any{}
	for _, object := range result.Objects {
		objects[object.GetKind()] = fields(object.Object)
	}
	return objects
}

func fields(value any) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range value {
			out[key] = fields(item)
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, fields(item))
		}
		return out
	}
	return nil
}

// walk returns a value with other texts.
func walk(value any, text func(string) string) any {
	switch value := value.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, item := range value {
			if slices.Contains(computed, key) {
				item = "computed"
			}
			out[text(key)] = walk(item, text)
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, item := range value {
			out = append(out, walk(item, text))
		}
		return out
	case string:
		return text(value)
	}
	return value
}

// unclean says what is wrong with a refusal, if anything is.
func unclean(err error, l leaf) string {
	var ofChart *render.ChartError
	switch text := err.Error(); {
	case errors.As(err, &ofChart):
		return "the chart gets the blame: " + text
	case strings.ContainsAny(text, "\n\r\x00"):
		return "the refusal has more than one line: " + text
	case !strings.Contains(text, l.path[0].name):
		return "the refusal does not name the field: " + text
	case len(text) > 2000:
		return "the refusal is long: " + text
	}
	return ""
}
