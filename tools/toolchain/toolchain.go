// Package toolchain provides the programs that the project runs but does not contain: etcd, the Kubernetes control
// plane, kwok and the like.
//
// The version of each is pinned by a module of its own in the folder tools/pins. A program is taken from where it is
// had for the least work: from $KUBEBUILDER_ASSETS if its version fits, from the cache, from its publisher as a
// binary whose checksum is verified, or else it is built with the go command from that module. The cache lies outside
// the tree. A program's place in it follows from everything that goes into the program, so a version bump makes a new
// one and going back finds the old one. The package never changes a program that is in the cache, and any number of
// processes may use one cache.
package toolchain

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Programs maps the name of a program to the path of its executable.
type Programs map[string]string

// Known returns the names of all programs that Ensure can provide, sorted.
func Known() []string {
	var names []string
	for _, p := range catalog(DefaultKubernetes) {
		names = append(names, p.name)
	}
	slices.Sort(names)
	return names
}

// Ensure provides the named programs, and downloads or builds those that are missing, which it reports on progress.
// When the cache has them all it prints nothing. It must be called from within the repository. The programs of
// Kubernetes are of the version that $KUBERNETES_VERSION names, as in 1.34, else of DefaultKubernetes.
// $APPSERVICE_MIRROR names a mirror of the publishers, or is "off" to download only Go modules.
func Ensure(ctx context.Context, progress io.Writer, names ...string) (Programs, error) {
	root, err := Root()
	if err != nil {
		return nil, err
	}
	pins := filepath.Join(root, "tools", "pins")
	version, err := kubernetesVersion(pins)
	if err != nil {
		return nil, err
	}
	wanted, err := lookUp(catalog(version), names)
	if err != nil {
		return nil, err
	}
	cache, err := Cache()
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = io.Discard
	}
	source, err := downloads()
	if err != nil {
		return nil, err
	}
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets != "" {
		if assets, err = filepath.Abs(assets); err != nil {
			return nil, fmt.Errorf("cannot find KUBEBUILDER_ASSETS: %w", err)
		}
	}
	w := workshop{pins: pins, cache: cache, progress: progress, source: source, assets: assets, known: catalog(version)}
	return w.ensure(ctx, wanted)
}

// LockCompiler waits until no process that uses the cache compiles, and keeps others from it until it is released. Two
// compilations at a time compile what they have in common twice, and take longer than one after the other.
func LockCompiler(ctx context.Context, progress io.Writer) (release func(), err error) {
	cache, err := Cache()
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = io.Discard
	}
	return workshop{cache: cache, progress: progress}.lock(ctx, "compiler", compiling)
}

// Cache returns the folder that holds the programs, and whatever else outlives a run: $APPSERVICE_CACHE, else
// appservice-operator in the user's own cache. It makes the folder and returns its path without symbolic links.
func Cache() (string, error) {
	dir := os.Getenv("APPSERVICE_CACHE")
	if dir == "" {
		user, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("cannot find a cache folder: %w: set APPSERVICE_CACHE", err)
		}
		dir = filepath.Join(user, "appservice-operator")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot find the cache folder: %w", err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot make the cache folder: %w", err)
	}
	dir, err = filepath.EvalSymlinks(dir)
	if err != nil {
		return "", fmt.Errorf("cannot find the cache folder: %w", err)
	}
	return dir, nil
}

// lookUp returns the named programs in the order of the names, each once.
func lookUp(known []program, names []string) ([]program, error) {
	var found []program
	for _, name := range names {
		if slices.ContainsFunc(found, func(p program) bool { return p.name == name }) {
			continue
		}
		i := slices.IndexFunc(known, func(p program) bool { return p.name == name })
		if i < 0 {
			var all []string
			for _, p := range known {
				all = append(all, p.name)
			}
			slices.Sort(all)
			return nil, fmt.Errorf("cannot provide program %q: the known ones are %s", name, strings.Join(all, ", "))
		}
		found = append(found, known[i])
	}
	return found, nil
}
