// Command render writes the file-based catalog of a basic template:
//
//	go run -C tools/pins/opm ./render -root ../../.. catalog/template.yaml dist/catalog/appservice-operator
//
// It does what opm alpha render-template basic does, and takes folders with a bundle in them besides images, so that it
// needs no registry. Their manifests become part of the catalog, and OLM v0 has nothing to unpack. OLM v1 pulls bundles
// from a registry: for it, -images says where those of the folders have been published.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/operator-framework/operator-registry/alpha/action"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/template/basic"
	"github.com/sirupsen/logrus"
)

// options name input and output; all paths are seen from the root.
type options struct {
	root     string
	template string
	output   string // the folder for catalog.yaml, made if it is not there
	images   string // the repository of the images of bundles that are folders; empty to name none
}

func main() {
	var options options
	flag.StringVar(&options.root, "root", ".", "the repository's root, where the template and the folders of bundles are")
	flag.StringVar(&options.images, "images", "", "the repository of the bundles' images; each has the tag v and its version")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := fmt.Errorf("want two arguments, the template and the folder to write: got %d", flag.NArg())
	if flag.NArg() == 2 {
		options.template, options.output = flag.Arg(0), flag.Arg(1)
		err = run(ctx, options)
	}
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "render:", err)
		os.Exit(1)
	}
}

// run renders a template into catalog.yaml.
func run(ctx context.Context, options options) error {
	if err := os.Chdir(options.root); err != nil {
		return err
	}
	text, err := os.ReadFile(options.template)
	if err != nil {
		return err
	}
	logrus.SetOutput(io.Discard) // loading a bundle logs too much; the error has what matters
	catalog, err := new(basic.Factory).CreateTemplate(bundle).Render(ctx, bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("cannot render %s: %w", options.template, err)
	}
	for i := range catalog.Bundles {
		bundle := &catalog.Bundles[i]
		if _, version, found := strings.Cut(bundle.Name, ".v"); found && bundle.Image == "" && options.images != "" {
			bundle.Image = options.images + ":v" + version
		}
	}
	var rendered bytes.Buffer
	if err := declcfg.WriteYAML(*catalog, &rendered); err != nil {
		return err
	}
	if err := os.MkdirAll(options.output, 0o755); err != nil {
		return err
	}
	path := filepath.Join(options.output, "catalog.yaml")
	fmt.Printf("%s: %d channels, %d bundles\n", path, len(catalog.Channels), len(catalog.Bundles))
	return os.WriteFile(path, rendered.Bytes(), 0o644)
}

// bundle renders one bundle, from a folder or from an image.
func bundle(ctx context.Context, ref string) (*declcfg.DeclarativeConfig, error) {
	return action.Render{Refs: []string{ref}, AllowedRefMask: action.RefBundleDir | action.RefBundleImage}.Run(ctx)
}
