package kinds

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// apiModule has the types of built-in kinds.
const apiModule = "k8s.io/api"

// enums are the values of types of texts that take few, by package and name of the type: those that Kubernetes marks with +enum. The Go types
// of the program do not say, so the sources of the module are read.
type enums map[string][]string

// readEnums reads the sources of the module that the program is built with.
func readEnums() (enums, error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", apiModule).Output()
	if err != nil {
		return nil, fmt.Errorf("cannot find the sources of %s: %w", apiModule, err)
	}
	root := string(bytes.TrimSpace(dir))
	found := enums{}
	visit := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() != "types.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil || !bytes.Contains(text, []byte("+enum")) {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ParseComments)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		found.add(apiModule+"/"+filepath.ToSlash(below), file)
		return nil
	}
	if err := filepath.WalkDir(root, visit); err != nil {
		return nil, fmt.Errorf("cannot read the sources of %s: %w", apiModule, err)
	}
	return found, nil
}

// add notes the marked types of a file and their constants.
func (e enums) add(path string, file *ast.File) {
	marked := map[string]bool{}
	for _, declaration := range file.Decls {
		types, is := declaration.(*ast.GenDecl)
		if !is || types.Tok != token.TYPE {
			continue
		}
		for _, spec := range types.Specs {
			named := spec.(*ast.TypeSpec)
			if strings.Contains(types.Doc.Text()+named.Doc.Text(), "+enum") {
				marked[named.Name.Name] = true
			}
		}
	}
	for _, declaration := range file.Decls {
		constants, is := declaration.(*ast.GenDecl)
		if !is || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			constant := spec.(*ast.ValueSpec)
			of, named := constant.Type.(*ast.Ident)
			if !named || !marked[of.Name] || len(constant.Values) != 1 {
				continue
			}
			if literal, is := constant.Values[0].(*ast.BasicLit); is && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil {
					e[path+"."+of.Name] = append(e[path+"."+of.Name], text)
				}
			}
		}
	}
}
