package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
)

const controllerTools = "sigs.k8s.io/controller-tools"

// generator is controller-gen's generator of CRDs, except for the step in which types of other packages are cut down.
type generator struct {
	crd.Generator // the markers and the filter
	crds          []apiextensionsv1.CustomResourceDefinition
}

// generate returns the CRDs of the packages that match the patterns, seen from folder root. These packages are ours:
// the types of all others are foreign. Errors in the packages are printed as controller-gen prints them.
func generate(root string, patterns ...string) ([]apiextensionsv1.CustomResourceDefinition, error) {
	root, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	own := &generator{}
	var used genall.Generator = own
	run, err := genall.Generators{&used}.ForRootsWithConfig(&packages.Config{Dir: root}, patterns...)
	if err != nil {
		return nil, err
	}
	if run.Run() {
		return nil, errors.New("the packages have errors, see above")
	}
	if len(own.crds) == 0 {
		return nil, fmt.Errorf("%s has no Kubernetes kinds in %v", root, patterns)
	}
	return own.crds, nil
}

// Generate does what crd.Generator's Generate does, and cuts down in between.
func (g *generator) Generate(ctx *genall.GenerationContext) error {
	parser := &crd.Parser{Collector: ctx.Collector, Checker: ctx.Checker}
	crd.AddKnownTypes(parser)
	ours := map[string]bool{}
	for _, root := range ctx.Roots {
		parser.NeedPackage(root)
		ours[root.PkgPath] = true
	}
	metav1 := crd.FindMetav1(ctx.Roots)
	if metav1 == nil {
		return nil
	}
	// This comes before any schema: each brings its package, and that its own kinds.
	kinds := crd.FindKubeKinds(parser, metav1)
	for _, kind := range kinds {
		for _, root := range ctx.Roots {
			if ident := (crd.TypeIdent{Package: root, Name: kind.Kind}); parser.Types[ident] != nil {
				parser.NeedSchemaFor(ident) // and for all types that it refers to
			}
		}
	}
	for ident, schema := range parser.Schemata {
		if !ours[ident.Package.PkgPath] {
			crd.EditSchema(&schema, visit(cut))
			parser.Schemata[ident] = schema
		}
	}

	version, err := controllerToolsVersion()
	if err != nil {
		return err
	}
	for _, kind := range kinds {
		parser.NeedCRDFor(kind, nil)
		definition := parser.CustomResourceDefinitions[kind]
		if definition.Annotations == nil {
			definition.Annotations = map[string]string{}
		}
		definition.Annotations["controller-gen.kubebuilder.io/version"] = version
		crd.FixTopLevelMetadata(definition)
		for _, v := range definition.Spec.Versions {
			if err := finish(v.Schema.OpenAPIV3Schema); err != nil {
				return fmt.Errorf("%s %s: %w", kind.Kind, v.Name, err)
			}
		}
		g.crds = append(g.crds, definition)
	}
	return nil
}

// controllerToolsVersion is what controller-gen writes into a CRD as its own version.
func controllerToolsVersion() (string, error) {
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, module := range info.Deps {
			if module.Path == controllerTools {
				return module.Version, nil
			}
		}
	}
	return "", errors.New("built without the version of " + controllerTools)
}
