// Package filewatch watches the folders that charts and the policy are read from. The caller decides what a change
// means.
package filewatch

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// Editors and kubelets change a folder in several steps: a change is reported when nothing else has happened for some
// time, or after a maximum time in any case.
const (
	settles = 40 * time.Millisecond
	latest  = time.Second
)

// Folder is a folder that contains charts and files.
type Folder struct {
	// Root is its path.
	Root string
	// Charts are the paths of the charts below it, which may be folders or packages.
	Charts []string
	// Files are the paths of single files below it.
	Files []string
}

// Watch calls a function once everything is watched, and after each change, until the context ends.
func (f *Folder) Watch(ctx context.Context, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("cannot watch %s: %w", f.Root, err)
	}
	defer watcher.Close()
	look := func() {
		for dir := range f.dirs() {
			_ = watcher.Add(dir) // a folder that is gone by now is not watched
		}
		changed()
	}
	look()
	settled := time.NewTimer(latest)
	settled.Stop()
	var first time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case event := <-watcher.Events:
			if event.Op == fsnotify.Chmod {
				continue
			}
		case err := <-watcher.Errors:
			log.FromContext(ctx).V(1).Info("events of files may be lost: looking at all of them", "reason", err.Error())
		case <-settled.C:
			first = time.Time{}
			look()
			continue
		}
		if first.IsZero() {
			first = time.Now()
		}
		settled.Reset(max(0, min(settles, time.Until(first.Add(latest)))))
	}
}

// dirs returns the folders in which a file of a chart can change: those on the way to each chart, all within it, and
// the targets of links. The value reports whether all below it was visited.
func (f *Folder) dirs() map[string]bool {
	found := map[string]bool{}
	f.add(found, f.Root)
	for _, chart := range f.Charts {
		for at := path.Dir(path.Clean(chart)); at != "." && at != "/"; at = path.Dir(at) {
			f.add(found, filepath.Join(f.Root, at))
		}
		f.within(found, filepath.Join(f.Root, chart))
		f.add(found, filepath.Dir(f.target(filepath.Join(f.Root, chart+".tgz"))))
	}
	for _, file := range f.Files {
		f.add(found, filepath.Dir(f.target(filepath.Join(f.Root, file))))
	}
	return found
}

// within adds a folder and all below.
func (f *Folder) within(found map[string]bool, dir string) {
	at := f.target(dir)
	if found[at] || !f.add(found, at) {
		return
	}
	found[at] = true
	entries, err := os.ReadDir(at)
	if err != nil {
		return
	}
	for _, entry := range entries {
		name := filepath.Join(at, entry.Name())
		switch {
		case entry.IsDir():
			f.within(found, name)
		case entry.Type()&fs.ModeSymlink != 0:
			linked := f.target(name)
			if info, err := os.Stat(linked); err == nil && info.IsDir() {
				f.within(found, linked)
			} else {
				f.add(found, filepath.Dir(linked))
			}
		}
	}
}

// add adds a folder by its path without links: a link to another place is another folder. It reports whether the folder
// exists.
func (f *Folder) add(found map[string]bool, dir string) bool {
	dir = f.target(dir)
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		return false
	}
	if _, known := found[dir]; !known {
		found[dir] = false
	}
	return true
}

func (f *Folder) target(name string) string {
	if resolved, err := filepath.EvalSymlinks(name); err == nil {
		return resolved
	}
	return name
}
