package render

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// unusual are the golden cases that a platform has to allow.
var unusual = map[string]string{
	"appservice/disruption-budget-none-unavailable": "a budget that lets no pod go",
	"appservice/ingress-class-and-annotations":      "a snippet",
	"appservice/tolerations":                        "one of every taint",
	"appservice/every-field":                        "another scheduler",
	"appservice/persistence-without-storage-class":  "a volume that exists, which may have data of others",
}

// Golden cases are typical specs, so the built-in policy allows them.
func TestThePolicyByDefaultAllowsTheGoldenCases(t *testing.T) {
	rules := policy.Default().For("demo", nil)
	for _, one := range goldenCases(t) {
		t.Run(one.name, func(t *testing.T) {
			draft, err := one.renderer.Draft(t.Context(), Input{Resource: one.resource, Capabilities: everyKind})
			require.NoError(t, err)
			_, err = one.renderer.Finish(t.Context(), draft, postrender.Facts{Policy: rules})
			var refused *policy.Error
			if errors.As(err, &refused) != (unusual[one.name] != "") {
				t.Errorf("got error %v", err)
			}
		})
	}
}

// specs are what samples and pages show, besides the golden cases.
func specs(t *testing.T) map[string]*unstructured.Unstructured {
	t.Helper()
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```")
	texts := map[string]string{}
	for _, pattern := range []string{"config/samples/*.yaml", "docs/*.md", "README.md"} {
		files, err := filepath.Glob("../../../" + pattern)
		require.NoError(t, err)
		require.NotEmpty(t, files, pattern)
		for _, file := range files {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			if !strings.HasSuffix(file, ".md") {
				texts[file] = string(text)
				continue
			}
			for i, found := range block.FindAllStringSubmatch(string(text), -1) {
				texts[fmt.Sprintf("%s, block %d", file, i+1)] = found[1]
			}
		}
	}
	list := map[string]*unstructured.Unstructured{}
	for name, text := range texts {
		for i, document := range strings.Split(text, "\n---\n") {
			resource := map[string]any{}
			if yaml.Unmarshal([]byte(document), &resource) != nil || !strings.Contains(document, "\nkind: App") {
				continue
			}
			one := parsedObject(t, document)
			one.SetNamespace("demo")
			list[fmt.Sprintf("%s, document %d", name, i+1)] = one
		}
	}
	return list
}

// Whoever upgrades an operator finds no new refusals, but of what harms others.
func TestWhatThePolicyBeforeAllowedIsAllowed(t *testing.T) {
	text, err := os.ReadFile("testdata/policy-before.yaml")
	require.NoError(t, err)
	read, err := policy.Read("policy-before.yaml", text)
	require.NoError(t, err)
	before, now := read.For("demo", nil), policy.Default().For("demo", nil)
	renderers, resources := map[string]*Renderer{}, specs(t)
	for _, one := range goldenCases(t) {
		renderers[one.resource.GetKind()], resources[one.name] = one.renderer, one.resource
	}
	checked := 0
	for name, resource := range resources {
		renderer := renderers[resource.GetKind()]
		if renderer == nil {
			continue
		}
		draft, err := renderer.Draft(t.Context(), Input{Resource: resource, Capabilities: everyKind})
		if err != nil {
			continue // a page shows what is refused, or a part
		}
		if _, err := renderer.Finish(t.Context(), draft, postrender.Facts{Policy: before}); err != nil {
			continue
		}
		checked++
		draft, err = renderer.Draft(t.Context(), Input{Resource: resource, Capabilities: everyKind})
		require.NoError(t, err)
		if _, err := renderer.Finish(t.Context(), draft, postrender.Facts{Policy: now}); (err != nil) != (unusual[name] != "") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if checked < 100 {
		t.Errorf("only %d resources were rendered", checked)
	}
	t.Logf("%d resources", checked)
}
