package packaging

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/example/appservice-operator/test/files"
)

// vague begins a message without the noun that it is about.
var vague = regexp.MustCompile(`^(it|its|they|what|that) .* `)

// TestMessagesBeginWithANoun reads the string literals of the product: messages are shown without those before them, and
// kubectl describe prints a message before its source. The notes of import follow their field on the same line.
func TestMessagesBeginWithANoun(t *testing.T) {
	err := filepath.WalkDir("../../internal", func(path string, entry fs.DirEntry, err error) error {
		if entry != nil && entry.Name() == "importer" {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, 0)
		require.NoError(t, err)
		for _, literal := range begun(file) {
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			if vague.MatchString(text) {
				t.Errorf("%s: a message begins with %q: name what it is about", set.Position(literal.Pos()), text)
			}
		}
		return nil
	})
	require.NoError(t, err)
}

// begun returns the string literals of a file that are not the second half of another.
func begun(file *ast.File) []*ast.BasicLit {
	var list []*ast.BasicLit
	later := map[ast.Expr]bool{}
	ast.Inspect(file, func(node ast.Node) bool {
		switch n := node.(type) {
		case *ast.BinaryExpr:
			later[n.Y] = true
		case *ast.BasicLit:
			if n.Kind == token.STRING && !later[n] {
				list = append(list, n)
			}
		}
		return true
	})
	return list
}

// TestRulesOfCRDsNameTheirField: the API server shows the message of a rule beside the path of the node, which is often
// only spec.
func TestRulesOfCRDsNameTheirField(t *testing.T) {
	for _, name := range []string{"appservices", "appjobs"} {
		crd := files.CRD(t, filepath.Join(files.Root(t), "config/crd/bases/app.example.com_"+name+".yaml"))
		checkRules(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema)
	}
}

func checkRules(t *testing.T, node *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	for _, rule := range node.XValidations {
		assert.Regexp(t, `^(spec|metadata)\.`, rule.Message, "a message names its field as in YAML")
		assert.LessOrEqual(t, len(rule.Message), 250, "a message is short: %s", rule.Message)
	}
	for _, property := range node.Properties {
		checkRules(t, &property)
	}
	if node.Items != nil {
		checkRules(t, node.Items.Schema)
	}
	if node.AdditionalProperties != nil && node.AdditionalProperties.Schema != nil {
		checkRules(t, node.AdditionalProperties.Schema)
	}
}
