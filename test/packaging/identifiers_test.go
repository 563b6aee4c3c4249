package packaging

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// identifier is a name of Go in a document, as in `release.Actor.Survey`: package, name, and perhaps a method or field.
var identifier = regexp.MustCompile(`(?:^|[^\w./-])([a-z][a-z0-9]+)\.([A-Z]\w*)(?:\.([A-Z]\w*))?`)

// Identifiers in documents (pkg.Name) exist, if pkg is a package of this repository.
func TestIdentifiersThatAreNamedAreThere(t *testing.T) {
	names := exported(t)
	for _, path := range markdown(t) {
		if filepath.Base(path) == "CHANGELOG.md" {
			continue // what was
		}
		for _, missing := range absent(text(t, path), names) {
			t.Errorf("%s names %s, which the code does not have", path, missing)
		}
	}
}

func TestAbsentIdentifiersAreFound(t *testing.T) {
	names := map[string]map[string]bool{"kube": {"As": true, "Traits": true, "Traits.Adoptable": true}}
	document := "`kube.As`, `kube.Traits.Adoptable`, `observe.As`, kube.Gone, `a/kube.Path`\n\n```go\nkube.Code\n```\n" +
		"`kube.Gone(x)`, `kube.Traits.Gone`\n"
	assert.Equal(t, []string{"kube.Gone", "kube.Traits.Gone"}, absent(document, names))
}

// absent returns the identifiers in the inline code of a document that are of a known package, which has no such name.
func absent(document string, names map[string]map[string]bool) (missing []string) {
	for _, code := range inlined.FindAllString(fenced.ReplaceAllString(document, ""), -1) {
		for _, found := range identifier.FindAllStringSubmatch(code, -1) {
			name := strings.TrimSuffix(found[2]+"."+found[3], ".")
			if known := names[found[1]]; known != nil && !known[name] {
				missing = append(missing, found[1]+"."+name)
			}
		}
	}
	return missing
}

// exported returns the names in the packages of this repository, by name of the package: those at the top, and methods
// and fields as Type.Name.
func exported(t *testing.T) map[string]map[string]bool {
	t.Helper()
	names := map[string]map[string]bool{}
	for _, folder := range []string{"api", "cmd", "internal", "test", "tools"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			if names[file.Name.Name] == nil {
				names[file.Name.Name] = map[string]bool{}
			}
			declared(file, names[file.Name.Name])
			return nil
		}))
	}
	return names
}

// declared adds the names that a file declares.
func declared(file *ast.File, names map[string]bool) {
	for _, declaration := range file.Decls {
		switch declaration := declaration.(type) {
		case *ast.FuncDecl:
			names[receiver(declaration)+declaration.Name.Name] = true
		case *ast.GenDecl:
			for _, spec := range declaration.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names[name.Name] = true
					}
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
					members(spec, names)
				}
			}
		}
	}
}

// members adds the fields of a struct, or the methods of an interface.
func members(spec *ast.TypeSpec, names map[string]bool) {
	var list *ast.FieldList
	switch kind := spec.Type.(type) {
	case *ast.StructType:
		list = kind.Fields
	case *ast.InterfaceType:
		list = kind.Methods
	default:
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			names[spec.Name.Name+"."+name.Name] = true
		}
	}
}

// receiver returns the type of a method with a dot; "" for a function.
func receiver(declaration *ast.FuncDecl) string {
	if declaration.Recv == nil {
		return ""
	}
	kind := declaration.Recv.List[0].Type
	for {
		switch inner := kind.(type) {
		case *ast.StarExpr:
			kind = inner.X
		case *ast.IndexExpr:
			kind = inner.X
		case *ast.Ident:
			return inner.Name + "."
		default:
			return ""
		}
	}
}
