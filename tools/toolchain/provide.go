package toolchain

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/filelock"
)

// workshop provides programs: it finds, downloads or builds them.
type workshop struct {
	pins     string // the folder of the modules that pin them
	cache    string
	progress io.Writer
	known    []program   // all of them
	assets   string      // a folder that may have some, if any: $KUBEBUILDER_ASSETS
	source   *downloader // none if nothing may be downloaded
}

// place is a program of one version, and where the cache has it.
type place struct {
	program
	pin        pin
	offer      offer  // where its publisher has it, if its publisher has it at all
	downloaded string // its path in the cache if it was downloaded
	built      string // its path in the cache if it was built
}

func (p place) flags() []string { return flags(p.program, p.pin.version) }

func (w workshop) ensure(ctx context.Context, wanted []program) (Programs, error) {
	places, err := w.places(ctx, wanted)
	if err != nil {
		return nil, err
	}
	programs := Programs{}
	places = w.fromAssets(ctx, places, programs)
	if missing := w.find(places, programs); len(missing) == 0 {
		return programs, nil
	}
	release, err := w.lock(ctx, "programs", "waiting for another process that provides programs")
	if err != nil {
		return nil, err
	}
	defer release()
	missing := w.find(places, programs) // the other process may have provided some
	if err := w.download(ctx, missing); err != nil {
		return nil, err
	}
	if err := w.build(ctx, w.find(missing, programs)); err != nil {
		return nil, err
	}
	if missing := w.find(missing, programs); len(missing) > 0 {
		return nil, fmt.Errorf("cannot find %s, which has just been built", names(missing))
	}
	return programs, nil
}

// places returns the places of programs.
func (w workshop) places(ctx context.Context, wanted []program) ([]place, error) {
	toolchains := map[string]string{}
	var places []place
	for _, p := range wanted {
		if toolchains[p.module] == "" {
			toolchain, err := w.goCommand(ctx, p.module, "env", "GOVERSION", "GOOS", "GOARCH").Output()
			if err != nil {
				return nil, fmt.Errorf("cannot provide %s: cannot ask the go command for its version: %w", p.name, explain(err))
			}
			toolchains[p.module] = string(toolchain)
		}
		pin, err := pinOf(p, filepath.Join(w.pins, p.module), toolchains[p.module])
		if err != nil {
			return nil, fmt.Errorf("cannot provide %s: %w", p.name, err)
		}
		at := place{program: p, pin: pin, built: filepath.Join(w.cache, p.module+"-"+pin.key, p.name)}
		// Publishers offer servers for Linux only.
		if p.official != nil && runtime.GOOS == "linux" {
			at.offer = p.official(pin.version, runtime.GOARCH)
			at.downloaded = filepath.Join(w.cache, strings.Join([]string{p.module, pin.version, runtime.GOOS, runtime.GOARCH}, "-"), p.name)
		}
		places = append(places, at)
	}
	return places, nil
}

// find enters those programs that the cache has, and returns the others.
func (w workshop) find(places []place, programs Programs) (missing []place) {
	for _, p := range places {
		switch {
		case w.source != nil && p.downloaded != "" && exists(p.downloaded):
			programs[p.name] = p.downloaded
		case exists(p.built):
			programs[p.name] = p.built
		default:
			missing = append(missing, p)
		}
	}
	return missing
}

// lock takes a lock that all processes share which use the cache, and says it if that takes time.
func (w workshop) lock(ctx context.Context, name, waiting string) (release func(), err error) {
	return filelock.Acquire(ctx, filepath.Join(w.cache, "locks", name), func() { w.report("%s", waiting) })
}

func (w workshop) report(format string, args ...any) {
	_, _ = fmt.Fprintf(w.progress, format+"\n", args...)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func names(places []place) string {
	var all []string
	for _, p := range places {
		all = append(all, p.name)
	}
	return enumerate(all)
}

// enumerate joins words as a sentence does.
func enumerate(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// about rounds a duration to what one would say.
func about(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%.0f s", d.Seconds())
	}
	return fmt.Sprintf("%.0f min", d.Minutes())
}
