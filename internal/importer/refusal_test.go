package importer

import (
	"strings"
	"testing"
)

func TestWhatCannotBeImportedSaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"no format":               {"a: 1", "neither a manifest of objects"},
		"no YAML":                 {"a: [", "yaml"},
		"no workload":             {"{apiVersion: v1, kind: Service, metadata: {name: a}}", "no Deployment or StatefulSet among 1 objects"},
		"no container":            {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}", "Deployment a has no container"},
		"a field of another type": {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, labels: {b: 1}}}", "labels of type string"},
		"a name that is too long": {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + strings.Repeat("a", 54) + "}, spec: {template: {spec: {containers: [{name: a, image: b}]}}}}",
			"at most 53 characters"},
		"a list in a list":           {"{apiVersion: v1, kind: List, items: [{apiVersion: v1}]}", "kind"},
		"Score without containers":   {"{apiVersion: score.dev/v1b1, metadata: {name: a}}", "containers are required"},
		"Score with another field":   {"{apiVersion: score.dev/v1b1, metadata: {name: a}, containers: {b: {image: c, nonsense: d}}}", "nonsense"},
		"Score with no image":        {"{apiVersion: score.dev/v1b1, metadata: {name: ab}, containers: {b: {image: .}}}", "containers.b.image is \".\""},
		"Compose with no image":      {"services: {a: {build: .}}", "services.a is built, and has no image"},
		"Compose with another field": {"services: {a: {image: b, nonsense: c}}", "nonsense"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := importer(t)
			format, err := FormatOf([]byte(test.text))
			switch {
			case err != nil:
			case format == FormatScore:
				_, err = i.Score(t.Context(), []byte(test.text), FileOptions{})
			case format == FormatCompose:
				_, _, err = i.Compose(t.Context(), []byte(test.text), FileOptions{Dir: "/folder"})
			default:
				objects, problem := Manifest([]byte(test.text), "")
				if err = problem; err == nil {
					_, _, err = i.Objects(t.Context(), objects, "")
				}
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want in it %q", err, test.want)
			}
		})
	}
}
