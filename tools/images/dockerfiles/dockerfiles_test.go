//go:build cluster

// Package dockerfiles runs the Dockerfiles of the repository with buildah, as they are, through the make targets that
// build and push images: "make test-images". It compares each image with what it has to hold; the last line sums up.
//
// No registry is asked but one on the loopback address: it has stand-ins for the base images, made of files (package
// images), under the names that the Dockerfiles have, and takes the images and the chart that make pushes. Go, its
// modules and what it has compiled are mounted while a Dockerfile runs.
package dockerfiles

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	if folder := os.Getenv(engineFolder); folder != "" { // make runs this program in docker's place
		if err := engine(folder, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "dockerfiles:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func TestImages(t *testing.T) {
	s := newSuite(t)
	passed, failed := 0, 0
	for _, check := range []struct {
		name string
		do   func(*suite, *testing.T)
	}{
		{"Dockerfile makes the image of make image-tar", func(s *suite, t *testing.T) {
			s.manager(t, runtime.GOARCH, "docker-build", "docker-push")
		}},
		{"Dockerfile makes it for " + foreign + " by make docker-buildx", func(s *suite, t *testing.T) {
			s.manager(t, foreign, "docker-buildx", "PLATFORMS=linux/"+foreign)
		}},
		{"scorecard", (*suite).scorecard},
		{"charts", (*suite).charts},
		{"bundle", (*suite).bundle},
		{"release files, and the chart in a registry", (*suite).release},
		{"catalog", (*suite).catalog},
	} {
		t.Run(check.name, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					failed++
				} else {
					passed++
				}
			}()
			check.do(s, t)
		})
	}
	fmt.Printf("IMAGES passed=%d failed=%d\n", passed, failed)
}

// manager builds the operator's image with the Dockerfile and compares it with the one that is assembled from files.
func (s *suite) manager(t *testing.T, arch string, targets ...string) {
	s.offer(t, "Dockerfile")
	tag := s.registry + "/manager-" + arch + ":v" + version // an image and a list of images cannot share a name
	s.make(t, append(targets, "VERSION="+version, "IMG="+tag)...)
	same(t, contents(t, s.pull(t, tag, arch)), contents(t, s.image(t, arch, "manager")))
}

// scorecard compares what the Dockerfile adds to its base, which the image from files does not have.
func (s *suite) scorecard(t *testing.T) {
	s.offer(t, "test/scorecard/Dockerfile")
	got := s.pushed(t, "scorecard", "SCORECARD_IMG")
	want := contents(t, s.image(t, runtime.GOARCH, "static"))
	maps.Copy(want, contents(t, s.image(t, runtime.GOARCH, "scorecard")))
	same(t, got, want, "the environment", "the folder") // these are those of the base
}

func (s *suite) charts(t *testing.T) {
	got := s.pushed(t, "charts", "CHARTS_IMG")
	same(t, got, contents(t, s.image(t, runtime.GOARCH, "charts")), "the environment") // buildah adds a PATH
}

var annotation = regexp.MustCompile(`(?m)^  (operators\.operatorframework\.io\.\S+): (\S+)$`)

// bundle compares the image with the folder, and its labels with the annotations: OLM takes them for the same.
func (s *suite) bundle(t *testing.T) {
	got := s.pushed(t, "bundle", "BUNDLE_IMG")
	labels := map[string]string{}
	for _, found := range annotation.FindAllStringSubmatch(s.read(t, "bundle/metadata/annotations.yaml"), -1) {
		labels[found[1]] = found[2]
	}
	if len(labels) == 0 {
		t.Fatal("bundle/metadata/annotations.yaml has no annotations")
	}
	want := folder(t, filepath.Join(s.root, "bundle"), "")
	want["the labels"] = fmt.Sprintf("%q", labels)
	same(t, got, want, slices.DeleteFunc(slices.Collect(maps.Keys(got)), func(name string) bool {
		return name == "the labels" || !strings.HasPrefix(name, "the ") && !strings.HasPrefix(got[name], aFolder)
	})...)
}

// catalog compares the image with the rendered catalog, and has opm check its cache against it.
func (s *suite) catalog(t *testing.T) {
	s.offer(t, "catalog.Dockerfile")
	got := s.pushed(t, "catalog", "CATALOG_IMG")
	want := folder(t, filepath.Join(s.root, "dist/catalog"), "configs")
	want["the entry point"], want["the command"] = `["/bin/opm"]`, `["serve" "/configs" "--cache-dir=/tmp/cache"]`
	want["the labels"] = `map["operators.operatorframework.io.index.configs.v1":"/configs"]`
	cached := false
	var without []string
	for name, one := range got {
		if file := strings.HasPrefix(name, "configs/") && !strings.HasPrefix(one, aFolder); !file && want[name] == "" {
			without = append(without, name)
		}
		cached = cached || strings.HasPrefix(name, "tmp/cache/") && !strings.HasPrefix(one, aFolder)
	}
	same(t, got, want, without...)
	if !cached {
		t.Error("it has no cache")
	}
}

var makeVersion = regexp.MustCompile(`(?m)^VERSION \?= (\S+)$`)

// release makes the files of a release, kubectl appservice for this machine only, and pushes the chart.
func (s *suite) release(t *testing.T) {
	found := makeVersion.FindStringSubmatch(s.read(t, "Makefile"))
	if found == nil {
		t.Fatal("the Makefile has no VERSION")
	}
	version := found[1]
	image := s.registry + "/manager@sha256:" + strings.Repeat("0123456789abcdef", 4)
	s.make(t, "release-files", "chart-push", "CLI_PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH, "IMG="+image,
		"CHART_REPOSITORY=oci://"+s.registry+"/charts", "CHART_PUSH_FLAGS=--plain-http")
	sums := map[string]string{}
	for line := range strings.Lines(s.read(t, "dist/checksums.txt")) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		if sums[name] = sum; digest(s.read(t, "dist/"+name)) != sum {
			t.Errorf("%s is not what checksums.txt says", name)
		}
	}
	chart := "appservice-operator-" + version + ".tgz"
	for _, name := range []string{
		"install.yaml", "admission.yaml", "argocd-cm.yaml", "grafana-dashboards.yaml", "tenant-limits.yaml", "tenant-policy.yaml", chart, "appservice-operator-" + version + ".spdx.json",
		"appservice-operator-" + version + ".cdx.json", "appservice-operator-" + version + "-linux-amd64.tar",
		"appservice-operator-" + version + "-linux-arm64.tar",
	} {
		if sums[name] == "" {
			t.Errorf("checksums.txt has no %s, only %q", name, slices.Sorted(maps.Keys(sums)))
		}
	}
	if !strings.Contains(s.read(t, "dist/install.yaml"), image) {
		t.Error("install.yaml does not name the image by its digest")
	}
	notes := regexp.MustCompile(`(?m)^## \S+`).FindAllString(s.read(t, "dist/release-notes.md"), -1)
	if !slices.Equal(notes, []string{"## " + version}) {
		t.Errorf("the release notes have the sections %q", notes)
	}
	// The registry has the packaged chart in Helm's form.
	manifest, err := s.pull(t, s.registry+"/charts/appservice-operator:"+version, runtime.GOARCH).Manifest()
	if err != nil || len(manifest.Layers) != 1 {
		t.Fatalf("the chart in the registry is %+v (error %v)", manifest, err)
	}
	same(t, map[string]string{
		"the configuration": string(manifest.Config.MediaType), "the package": string(manifest.Layers[0].MediaType),
		"its digest": manifest.Layers[0].Digest.Hex,
	}, map[string]string{
		"the configuration": "application/vnd.cncf.helm.config.v1+json",
		"the package":       "application/vnd.cncf.helm.chart.content.v1.tar+gzip", "its digest": sums[chart],
	})
}
