package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// check is one thing that is shown.
type check struct {
	name string
	do   func(context.Context, *suite) error
}

func checks() []check {
	return []check{
		{"Dockerfile makes the image of make image-tar", func(ctx context.Context, s *suite) error {
			return s.manager(ctx, runtime.GOARCH, "docker-build", "docker-push")
		}},
		{"Dockerfile makes it for " + foreign + ", by make docker-buildx", func(ctx context.Context, s *suite) error {
			return s.manager(ctx, foreign, "docker-buildx", "PLATFORMS=linux/"+foreign)
		}},
		{"test/scorecard/Dockerfile", scorecard},
		{"charts.Dockerfile", charts},
		{"bundle.Dockerfile", bundle},
		{"release files, and the chart in a registry", release},
		{"catalog.Dockerfile", catalog},
	}
}

// manager builds the operator's image with the Dockerfile and compares it with the one that is assembled from files.
func (s *suite) manager(ctx context.Context, arch string, targets ...string) error {
	if err := s.offer(ctx, "Dockerfile"); err != nil {
		return err
	}
	tag := s.registry + "/manager-" + arch + ":v" + version // an image and a list of images cannot share a name
	if err := s.make(ctx, append(targets, "VERSION="+version, "IMG="+tag)...); err != nil {
		return err
	}
	got, err := s.pull(ctx, tag, arch)
	if err != nil {
		return err
	}
	want, err := s.image(ctx, arch, "manager")
	if err != nil {
		return err
	}
	return equal(got, want)
}

// pushed builds an image with make targets, which take its name from a variable, pushes it and returns it.
func (s *suite) pushed(ctx context.Context, name, variable string, targets ...string) (v1.Image, error) {
	tag := s.registry + "/" + name + ":v" + version
	if err := s.make(ctx, append(targets, variable+"="+tag)...); err != nil {
		return nil, err
	}
	return s.pull(ctx, tag, runtime.GOARCH)
}

// equal compares settings and contents.
func equal(got, want v1.Image, without ...string) error {
	all, err := contents(want)
	if err != nil {
		return err
	}
	return equalWith(got, want, all, without...)
}

// equalWith compares the settings of two images, except those named in without, and the contents of the first with what they have to be.
func equalWith(got, want v1.Image, all map[string]entry, without ...string) error {
	gotSettings, err := settings(got)
	if err != nil {
		return err
	}
	wantSettings, err := settings(want)
	if err != nil {
		return err
	}
	for _, name := range without {
		delete(gotSettings, name)
		delete(wantSettings, name)
	}
	gotContents, err := contents(got)
	if err != nil {
		return err
	}
	return errors.Join(same(gotSettings, wantSettings), same(gotContents, all))
}

// scorecard compares what the Dockerfile adds to its base, which the image from files does not have.
func scorecard(ctx context.Context, s *suite) error {
	if err := s.offer(ctx, "test/scorecard/Dockerfile"); err != nil {
		return err
	}
	got, err := s.pushed(ctx, "scorecard", "SCORECARD_IMG", "scorecard-build", "scorecard-push")
	if err != nil {
		return err
	}
	base, err := s.image(ctx, runtime.GOARCH, "static")
	if err != nil {
		return err
	}
	all, err := contents(base)
	if err != nil {
		return err
	}
	want, err := s.image(ctx, runtime.GOARCH, "scorecard")
	if err != nil {
		return err
	}
	added, err := contents(want)
	if err != nil {
		return err
	}
	maps.Copy(all, added)
	return equalWith(got, want, all, "environment", "folder") // these are those of the base
}

func charts(ctx context.Context, s *suite) error {
	got, err := s.pushed(ctx, "charts", "CHARTS_IMG", "charts-build", "charts-push")
	if err != nil {
		return err
	}
	want, err := s.image(ctx, runtime.GOARCH, "charts")
	if err != nil {
		return err
	}
	return equal(got, want, "environment") // buildah adds a PATH
}

var annotation = regexp.MustCompile(`(?m)^  (operators\.operatorframework\.io\.\S+): (\S+)$`)

// bundle compares the image with the folder, and its labels with the annotations: OLM takes them for the same.
func bundle(ctx context.Context, s *suite) error {
	got, err := s.pushed(ctx, "bundle", "BUNDLE_IMG", "bundle-build", "bundle-push")
	if err != nil {
		return err
	}
	all, err := contents(got)
	if err != nil {
		return err
	}
	want, err := folder(filepath.Join(s.root, "bundle"), "")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(s.root, "bundle/metadata/annotations.yaml"))
	if err != nil {
		return err
	}
	labels := map[string]string{}
	for _, found := range annotation.FindAllStringSubmatch(string(text), -1) {
		labels[found[1]] = found[2]
	}
	file, err := got.ConfigFile()
	if err != nil {
		return err
	}
	if len(labels) == 0 {
		return errors.New("bundle/metadata/annotations.yaml has no annotations")
	}
	return errors.Join(same(files(all), want), same(file.Config.Labels, labels))
}

// catalog compares the image with the rendered catalog, and has opm check its cache against it.
func catalog(ctx context.Context, s *suite) error {
	if err := s.offer(ctx, "catalog.Dockerfile"); err != nil {
		return err
	}
	got, err := s.pushed(ctx, "catalog", "CATALOG_IMG", "catalog-build", "catalog-push")
	if err != nil {
		return err
	}
	all, err := contents(got)
	if err != nil {
		return err
	}
	want, err := folder(filepath.Join(s.root, "dist/catalog"), "configs")
	if err != nil {
		return err
	}
	if err := same(files(below(all, "configs")), want); err != nil {
		return err
	}
	if len(files(below(all, "tmp/cache"))) == 0 {
		return errors.New("it has no cache")
	}
	gotSettings, err := settings(got)
	if err != nil {
		return err
	}
	part := map[string]string{"entry point": gotSettings["entry point"], "command": gotSettings["command"], "labels": gotSettings["labels"]}
	return same(part, map[string]string{
		"entry point": `["/bin/opm"]`,
		"command":     `["serve" "/configs" "--cache-dir=/tmp/cache"]`,
		"labels":      `["operators.operatorframework.io.index.configs.v1=/configs"]`,
	})
}

var makeVersion = regexp.MustCompile(`(?m)^VERSION \?= (\S+)$`)

// release makes the files of a release, kubectl appservice for this machine only, and pushes the chart.
func release(ctx context.Context, s *suite) error {
	text, err := os.ReadFile(filepath.Join(s.root, "Makefile"))
	if err != nil {
		return err
	}
	found := makeVersion.FindSubmatch(text)
	if found == nil {
		return errors.New("the Makefile has no VERSION")
	}
	version := string(found[1])
	platform := runtime.GOOS + "/" + runtime.GOARCH
	digest := "@sha256:" + strings.Repeat("0123456789abcdef", 4)
	if err := s.make(ctx, "release-files", "chart-push", "CLI_PLATFORMS="+platform, "IMG="+s.registry+"/manager"+digest,
		"CHART_REPOSITORY=oci://"+s.registry+"/charts", "CHART_PUSH_FLAGS=--plain-http"); err != nil {
		return err
	}
	sums, err := checksums(filepath.Join(s.root, "dist"))
	if err != nil {
		return err
	}
	prefix := "appservice-operator-" + version
	for _, name := range []string{
		"install.yaml", "admission.yaml", prefix + ".tgz", prefix + ".spdx.json", prefix + ".cdx.json",
		prefix + "-linux-amd64.tar", prefix + "-linux-arm64.tar",
	} {
		if sums[name] == "" {
			return fmt.Errorf("checksums.txt has no %s, only %q", name, slices.Sorted(maps.Keys(sums)))
		}
	}
	install, err := os.ReadFile(filepath.Join(s.root, "dist/install.yaml"))
	if err != nil {
		return err
	}
	if !strings.Contains(string(install), "/manager"+digest) {
		return errors.New("install.yaml does not name the image by its digest")
	}
	notes, err := os.ReadFile(filepath.Join(s.root, "dist/release-notes.md"))
	if err != nil {
		return err
	}
	if headings := regexp.MustCompile(`(?m)^## \S+`).FindAllString(string(notes), -1); !slices.Equal(headings, []string{"## " + version}) {
		return fmt.Errorf("the release notes have the sections %q", headings)
	}
	return s.chart(ctx, version, sums[prefix+".tgz"])
}

// checksums reads checksums.txt and checks each file against it.
func checksums(dist string) (map[string]string, error) {
	text, err := os.ReadFile(filepath.Join(dist, "checksums.txt"))
	if err != nil {
		return nil, err
	}
	sums := map[string]string{}
	for line := range strings.Lines(string(text)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		content, err := os.ReadFile(filepath.Join(dist, name))
		if err != nil {
			return nil, err
		}
		if got := sha256.Sum256(content); hex.EncodeToString(got[:]) != sum {
			return nil, fmt.Errorf("%s is not what checksums.txt says", name)
		}
		sums[name] = sum
	}
	return sums, nil
}

// chart returns an error unless the registry has the packaged chart in Helm's form.
func (s *suite) chart(ctx context.Context, version, sum string) error {
	got, err := s.pull(ctx, s.registry+"/charts/appservice-operator:"+version, runtime.GOARCH)
	if err != nil {
		return err
	}
	manifest, err := got.Manifest()
	if err != nil {
		return err
	}
	if len(manifest.Layers) != 1 {
		return fmt.Errorf("the chart in the registry has %d layers", len(manifest.Layers))
	}
	return same(map[string]string{
		"the configuration": string(manifest.Config.MediaType), "the package": string(manifest.Layers[0].MediaType), "its digest": manifest.Layers[0].Digest.Hex,
	}, map[string]string{
		"the configuration": "application/vnd.cncf.helm.config.v1+json", "the package": "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "its digest": sum,
	})
}
