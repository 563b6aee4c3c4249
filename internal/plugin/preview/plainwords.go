package preview

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	yamlv3 "go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/internal/engine/chart/crd"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// admitPlainly admits a resource like the API server, and says in plain words what is often written wrongly: numbers
// and booleans without quotes, quotes too many, quantities, upper case. It corrects each such value, so that
// the API server's own errors are about the rest.
func admitPlainly(ctx context.Context, d *crd.Definition, resource *unstructured.Unstructured,
	at *fieldPositions) (plain []Problem, admitted crd.Admitted) {
	corrected, said := resource.DeepCopy(), map[string]bool{}
	say := func(found place, message string, value any) {
		said[found.path()] = true
		plain = append(plain, Problem{Field: found.shown, Message: found.shown + ": " + message, Line: found.key.Line,
			Column: found.key.Column})
		replace(corrected.Object, found.steps, value)
	}
	for _, found := range at.metadata() {
		if text, is := unquoted(found.value); is {
			say(found, inQuotes(text), text)
		}
	}
	// the API of routes refuses upper case, that of AppServices does not
	if hostnames, has := at.find("spec.route.hostnames"); has && kube.IsAppService(d.Kind) {
		for _, found := range hostnames.children() {
			isHost := func(text string) bool {
				return len(validation.IsDNS1123Subdomain(strings.TrimPrefix(text, "*."))) == 0
			}
			if message, value := inLowerCase(found, isHost); message != "" {
				say(found, message, value)
			}
		}
	}
	for more := true; more; {
		admitted, more = d.Admit(ctx, corrected), false
		for _, err := range admitted.Errors {
			found, exact := at.find(strings.TrimPrefix(err.Field, "<nil>"))
			if !exact || said[found.path()] {
				continue
			}
			message, value := inPlainWords(err, found)
			if message == "" || value != nil && !accepts(ctx, d, corrected, at, found, value) {
				continue
			}
			say(found, message, value)
			more = true
		}
	}
	rest := admitted.Errors[:0:0]
	for _, err := range admitted.Errors {
		if found, exact := at.find(strings.TrimPrefix(err.Field, "<nil>")); !exact || !said[found.path()] {
			rest = append(rest, err)
		}
	}
	admitted.Errors = rest
	return plain, admitted
}

// accepts reports whether the API server has no error left about a value once it is corrected.
func accepts(ctx context.Context, d *crd.Definition, resource *unstructured.Unstructured, at *fieldPositions,
	found place, value any) bool {
	corrected := resource.DeepCopy()
	replace(corrected.Object, found.steps, value)
	return !slices.ContainsFunc(d.Admit(ctx, corrected).Errors, func(err *field.Error) bool {
		other, exact := at.find(strings.TrimPrefix(err.Field, "<nil>"))
		return exact && other.path() == found.path()
	})
}

// misread returns a problem for each key that YAML does not read as it is in the text.
func misread(p *fieldPositions) (list []Problem) {
	if p.root == nil {
		return nil
	}
	var walk func(in place)
	walk = func(in place) {
		for _, child := range in.children() {
			if read := child.steps[len(child.steps)-1]; !child.isItem && read != child.key.Value {
				list = append(list, Problem{Field: child.shown, Line: child.key.Line, Column: child.key.Column,
					Message: fmt.Sprintf("%s: YAML reads this key as %s, %s", child.shown, read, inQuotes(child.key.Value))})
			}
			walk(child)
		}
	}
	walk(place{value: p.root})
	return list
}

func inQuotes(text string) string { return fmt.Sprintf(`put it in quotes: "%s"`, text) }

var (
	shouldMatch = regexp.MustCompile(`should match '(.+)'$`)
	// ofQuantities is part of the pattern of quantities.
	ofQuantities = "([KMGTPE]i)|[numkMGTPE]"
)

// inPlainWords returns what is wrong with a value, and the right one, nil for none; no message if the API server says
// it best.
func inPlainWords(err *field.Error, at place) (message string, value any) {
	text, raw := unquoted(at.value)
	switch pattern := shouldMatch.FindStringSubmatch(err.Detail); {
	case err.Type == field.ErrorTypeTypeInvalid && raw && strings.Contains(err.Detail, "string:"):
		return inQuotes(text), text
	case err.Type == field.ErrorTypeTypeInvalid && at.value.Kind == yamlv3.ScalarNode && !raw:
		if other, kind := decoded(at.value.Value); kind != "" && strings.Contains(err.Detail, "must be of type "+kind) {
			return fmt.Sprintf("write it without quotes: %v", other), other
		}
	case pattern != nil && strings.Contains(pattern[1], ofQuantities):
		return fmt.Sprintf("%q is no quantity: 100m is a tenth of a CPU, 128Mi is memory", at.value.Value), nil
	case pattern != nil && strings.HasPrefix(pattern[1], "^/") && regexp.MustCompile(pattern[1]).MatchString("/"+text):
		return "begin it with /: /" + text, "/" + text
	case pattern != nil:
		return inLowerCase(at, regexp.MustCompile(pattern[1]).MatchString)
	case err.Field == "metadata.name":
		return inLowerCase(at, func(name string) bool { return len(validation.IsDNS1123Subdomain(name)) == 0 })
	}
	return "", nil
}

// decoded returns what YAML reads without quotes, and what the API server calls its type; none for a string.
func decoded(text string) (value any, kind string) {
	if yaml.Unmarshal([]byte(text), &value) != nil {
		return nil, ""
	}
	switch number := value.(type) {
	case bool:
		return value, "boolean"
	case float64:
		if number == float64(int64(number)) {
			return int64(number), "integer"
		}
		return value, "number"
	}
	return nil, ""
}

// inLowerCase returns the line to write if only upper case is wrong with a value.
func inLowerCase(at place, right func(string) bool) (message string, value any) {
	text := at.value.Value
	lower := strings.ToLower(text)
	if lower == text || right(text) || !right(lower) {
		return "", nil
	}
	written, _ := yaml.Marshal(lower) // in quotes if it needs them, as *.example.com
	line := "- " + strings.TrimSpace(string(written))
	if !at.isItem {
		line = at.key.Value + ": " + strings.TrimSpace(string(written))
	}
	return "write it in lower case: " + line, lower
}

// unquoted returns the text of a value that YAML does not read as a string, since it is not in quotes, as it is in the
// file: 1.10, yes.
func unquoted(node *yamlv3.Node) (text string, is bool) {
	if node.Kind != yamlv3.ScalarNode || node.Style != 0 {
		return "", false
	}
	_, kind := decoded(node.Value)
	return node.Value, kind != ""
}

// replace sets a value in decoded JSON; nil removes it.
func replace(in any, steps []string, value any) {
	for i, step := range steps {
		switch parent := in.(type) {
		case map[string]any:
			switch {
			case i < len(steps)-1:
				in = parent[step]
			case value == nil:
				delete(parent, step)
			default:
				parent[step] = value
			}
		case []any:
			index := indexOf(step, len(parent))
			if index < 0 {
				return
			}
			if i < len(steps)-1 {
				in = parent[index]
			} else if value != nil {
				parent[index] = value
			}
		}
	}
}
