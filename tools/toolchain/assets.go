package toolchain

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// fromAssets enters the programs of $KUBEBUILDER_ASSETS whose version fits, says which these are, and returns the others.
// That folder may contain any version, so each program is asked.
func (w workshop) fromAssets(ctx context.Context, places []place, programs Programs) (others []place) {
	if w.assets == "" {
		return places
	}
	var used, unfit []string
	for _, p := range places {
		path := filepath.Join(w.assets, p.name)
		if p.official == nil || !exists(path) {
			others = append(others, p)
			continue
		}
		want := p.official(p.pin.version, runtime.GOARCH).version
		version, err := versionOf(ctx, path)
		switch {
		case err != nil:
			unfit = append(unfit, p.name+" ("+explain(err).Error()+")")
		case minor(version) != minor(want): // patch releases may differ
			unfit = append(unfit, p.name+" "+version+" (it must be "+minor(want)+")")
		default:
			used = append(used, p.name+" "+version)
			programs[p.name] = path
			continue
		}
		others = append(others, p)
	}
	switch {
	case len(used) > 0:
		w.report("using %s of KUBEBUILDER_ASSETS, %s", enumerate(used), w.assets)
	case len(unfit) == 0:
		w.report("KUBEBUILDER_ASSETS, %s, has none of %s", w.assets, names(places))
	}
	if len(unfit) > 0 {
		w.report("not using %s of KUBEBUILDER_ASSETS, %s", enumerate(unfit), w.assets)
	}
	return others
}

// versionOf asks a program for its version.
func versionOf(ctx context.Context, path string) (string, error) {
	args := []string{"--version"}
	if filepath.Base(path) == "kubectl" {
		args = []string{"version", "--client"}
	}
	out, err := exec.CommandContext(ctx, path, args...).Output()
	if err != nil {
		return "", err
	}
	version := regexp.MustCompile(`\bv?\d+\.\d+\.\d+\S*`).FindString(string(out))
	if version == "" {
		return "", errors.New("it says no version")
	}
	return "v" + strings.TrimPrefix(version, "v"), nil
}

// minor returns a version without its patch release: v1.36 for v1.36.3.
func minor(version string) string {
	major, minor := release(version)
	return "v" + major + "." + minor
}
