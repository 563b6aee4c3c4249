package importer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/example/appservice-operator/internal/plugin/importer/read"
)

func TestWhatCannotBeImportedSaysWhy(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ text, want string }{
		"no object":               {"a: 1", "document 1: apiVersion and kind are missing"},
		"no YAML":                 {"a: [", "yaml"},
		"no workload":             {"{apiVersion: v1, kind: Service, metadata: {name: a}}", "no Deployment, StatefulSet, Job or other workload among 1 object:"},
		"no container":            {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a}}", "Deployment a has no container"},
		"a field of another type": {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, labels: {b: 1}}}", "metadata.labels: it has to be a string, and is a number"},
		"a name that is too long": {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: " + strings.Repeat("a", 54) + "}, spec: {template: {spec: {containers: [{name: a, image: b}]}}}}",
			"and that of an AppService has at most 53"},
		"a list in a list": {"{apiVersion: v1, kind: List, items: [{apiVersion: v1}]}", "kind"},
		"a Score file":     {"{apiVersion: score.dev/v1b1}", "Score file, not a manifest: convert it by score-k8s init"},
		"a Compose file":   {"{services: {a: {image: b}}}", "Compose file, not a manifest: convert it by kompose convert --stdout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := importer(t)
			objects, err := read.FromManifest([]byte(test.text), "")
			if err == nil {
				_, err = i.Objects(t.Context(), objects, "")
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want in it %q", err, test.want)
			}
		})
	}
}

// apps/v1beta1 had a default for it: that manifests of today lack it is no reason to refuse them, or to end.
func TestAWorkloadWithoutSelectorSelectsTheLabelsOfItsPods(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"Deployment", "StatefulSet"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			workload := "{apiVersion: apps/v1, kind: " + kind + ", metadata: {name: a}, spec: {%stemplate: {metadata: {labels: {app: a}}, " +
				"spec: {containers: [{name: a, image: b, ports: [{containerPort: 80}]}]}}}}\n---\n" +
				"{apiVersion: v1, kind: Service, metadata: {name: a}, spec: {selector: {app: a}, ports: [{port: 80}]}}"
			var texts []string
			for _, selector := range []string{"", "selector: {matchLabels: {app: a}}, "} {
				texts = append(texts, printed(t, imported(t, []byte(fmt.Sprintf(workload, selector)))))
			}
			if texts[0] != texts[1] {
				t.Errorf("got\n%s\nwant\n%s", texts[0], texts[1])
			}
		})
	}
}
