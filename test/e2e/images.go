package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/example/appservice-operator/test/olm"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/node"
	"github.com/example/appservice-operator/tools/toolchain"
)

// firstRelease is the folder of the version that is upgraded: its bundle, and the commit that its manager is built from.
const firstRelease = "test/testdata/v0.1.0"

// versionBefore is the folder with the commit of the version that make deploy upgrades, and beforeTag its image.
const versionBefore, beforeTag = "test/testdata/before", "example.com/appservice-operator:before"

// buildTools builds the programs that the checks need, where the cache lacks them.
func (s *suite) buildTools(ctx context.Context) {
	if os.Getenv("KUBECONFIG") == "" {
		try.Get(node.Programs(ctx, s.out))
	}
	try.Get(toolchain.Ensure(ctx, s.out, "kubectl"))
	if s.needsOLM {
		try.Get(olm.Programs(ctx, s.out))
		try.Get(toolchain.Ensure(ctx, s.out, "operator-sdk", "scorecard-test"))
	}
}

// loadImages builds the images of both versions of the operator and of the applications, and brings them into the cluster.
func (s *suite) loadImages(ctx context.Context) {
	start := time.Now()
	s.old = try.Get(olm.Bundled(filepath.Join(s.root, firstRelease, "bundle")))
	s.present = try.Get(olm.Bundled(filepath.Join(s.root, "bundle")))
	released, before := s.checkOut(ctx, firstRelease), s.checkOut(ctx, versionBefore)
	for _, image := range []struct{ name, tag, source string }{
		{"manager", s.old.Image, released}, {"manager", beforeTag, before}, {"manager", s.present.Image, s.root},
		{"web", oldTag, s.root}, {"web", newTag, s.root}, {"nginx", "docker.io/library/nginx:1.7.9", s.root},
	} {
		s.say("building image %s ...", image.tag)
		archive := filepath.Join(s.folder, image.name+".tar")
		try.Do(node.BuildImage(ctx, "-tag", image.tag, "-version", "e2e", "-source", image.source, "-out", archive, image.name))
		try.Do(s.cluster.load(ctx, archive))
	}
	s.say("built and loaded all images in %s", time.Since(start).Round(100*time.Millisecond))
}

// checkOut returns a folder with the files of the commit that a version's folder names.
func (s *suite) checkOut(ctx context.Context, version string) string {
	content := try.Get(os.ReadFile(filepath.Join(s.root, version, "COMMIT")))
	folder := s.sourceOf(version)
	commit, archive := strings.TrimSpace(string(content)), folder+".tar"
	try.Do(os.Mkdir(folder, 0o755))
	if err := s.command(ctx, "git", "archive", "--output="+archive, commit); err != nil {
		try.Fail("cannot read commit %s, which needs the whole history (git fetch --unshallow): %w", commit, err)
	}
	try.Do(s.command(ctx, "tar", "--extract", "--file="+archive, "--directory="+folder))
	return folder
}

// sourceOf is the folder with the files of a version.
func (s *suite) sourceOf(version string) string {
	return filepath.Join(s.folder, filepath.Base(version))
}
