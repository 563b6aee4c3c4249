package fields

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// FuzzParse checks that any text either has mistakes with lines of the file, or yields schemas that are valid JSON, deterministic and
// compilable.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../../../helm-charts/*/fields.yaml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no fields: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	for _, text := range []string{
		"fields:\n  a: {type: string, description: x, enum: [b, c], default: b}", "fields: {a: {$ref: AppService.spec.image}}",
		"fields:\n  a: &a {type: object, description: x, properties: {b: *a}}", "fields: *a", "? [a]\n: b", "fields:\n  a: {type: integer, description: x, maximum: .inf}",
		"fields:\n  a: {type: array, description: x, items: {type: object, additionalProperties: {type: string}}, x-kubernetes-list-map-keys: [a]}",
		"fields:\n  a: {type: object, description: x, additionalProperties: {x-kubernetes-int-or-string: true, format: quantity}}",
		"rules: [{rule: 'self.a == 1', message: x}]\nkind: {description: x, plural: as}\nrequired: [a]",
	} {
		f.Add([]byte(text))
	}
	kind := schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 1<<16 {
			return
		}
		file, err := For(kind, "fields.yaml", text)
		if err != nil {
			if again := said(errOf(For(kind, "fields.yaml", text))); again != said(err) {
				t.Errorf("read twice, it says %s, then %s", said(err), again)
			}
			placed(t, err, strings.Count(string(text), "\n")+strings.Count(string(text), "\r")+2)
			return
		}
		first, err := file.schema(nil, file.Defaults())
		if err != nil {
			return // a reference that only the generator can resolve
		}
		second, err := file.schema(nil, file.Defaults())
		if err != nil || string(first) != string(second) {
			t.Errorf("made twice, the schema differs: %v\n%s\n%s", err, first, second)
		}
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(first))
		require.NoError(t, err)
		const name = "file:///values.schema.json"
		compiler := jsonschema.NewCompiler()
		require.NoError(t, compiler.AddResource(name, document))
		if _, err := compiler.Compile(name); err != nil {
			t.Errorf("the schema does not compile: %v\n%s", err, first)
		}
	})
}

func errOf(_ *File, err error) error { return err }

// placed checks that each mistake has a text and a valid line.
func placed(t *testing.T, err error, lines int) {
	t.Helper()
	var problems Problems
	if !errors.As(err, &problems) {
		t.Fatalf("got %T: %v", err, err)
	}
	for _, problem := range problems {
		if problem.Line < 1 || problem.Line > lines || problem.Text == "" {
			t.Errorf("got line %d of %d: %q", problem.Line, lines, problem.Text)
		}
	}
}
