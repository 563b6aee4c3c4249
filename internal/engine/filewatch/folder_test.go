package filewatch

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// patience is for how long a change is waited for that should come at once.
const patience = time.Minute

// Whatever way a file gets another content, it is noticed, and so is the next change.
func TestChangesAreNoticed(t *testing.T) {
	cases := map[string]struct {
		prepare, change func(t *testing.T, root string)
	}{
		"a file is written": {nil, func(t *testing.T, root string) { write(t, root, "charts/web/templates/a.yaml", "two") }},
		"a file is replaced, as editors do": {nil, func(t *testing.T, root string) {
			write(t, root, "charts/web/templates/.a.tmp", "two")
			rename(t, root, "charts/web/templates/.a.tmp", "charts/web/templates/a.yaml")
		}},
		"a file is new": {nil, func(t *testing.T, root string) { write(t, root, "charts/web/templates/b.yaml", "one") }},
		"a file goes":   {nil, func(t *testing.T, root string) { remove(t, root, "charts/web/templates/a.yaml") }},
		"a file in a folder that is new": {
			func(t *testing.T, root string) { write(t, root, "charts/web/templates/more/a.yaml", "one") },
			func(t *testing.T, root string) { write(t, root, "charts/web/templates/more/a.yaml", "two") },
		},
		"the chart is put in place of another": {
			func(t *testing.T, root string) { write(t, root, "charts/next/templates/a.yaml", "two") },
			func(t *testing.T, root string) {
				rename(t, root, "charts/web", "charts/last")
				rename(t, root, "charts/next", "charts/web")
			},
		},
		"a file of a chart that was put in place of another": {
			func(t *testing.T, root string) {
				write(t, root, "charts/next/templates/a.yaml", "two")
				rename(t, root, "charts/web", "charts/last")
				rename(t, root, "charts/next", "charts/web")
			},
			func(t *testing.T, root string) { write(t, root, "charts/web/templates/a.yaml", "three") },
		},
		"a package": {
			func(t *testing.T, root string) { remove(t, root, "charts/web") },
			func(t *testing.T, root string) { write(t, root, "charts/web.tgz", "packed") },
		},
		"a mounted ConfigMap": {mounted("one"), mounted("two")},
		"a mounted ConfigMap that changes again": {
			func(t *testing.T, root string) { mounted("one")(t, root); mounted("two")(t, root) }, mounted("three"),
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			write(t, root, "charts/web/templates/a.yaml", "one")
			folder := &Folder{Root: root, Charts: []string{"charts/web"}}
			noticed := make(chan struct{}, 100)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error)
			go func() { ended <- folder.Watch(ctx, func() { noticed <- struct{}{} }) }()
			wait(t, noticed, "everything is watched")
			if test.prepare != nil {
				test.prepare(t, root)
				wait(t, noticed, "what came before is noticed")
				rest(noticed)
			}
			test.change(t, root)
			wait(t, noticed, "the change is noticed")
			cancel()
			assert.NoError(t, <-ended)
		})
	}
}

// mounted changes a folder as a kubelet does that mounts a ConfigMap: entries are links to a link, which is replaced.
func mounted(version string) func(t *testing.T, root string) {
	return func(t *testing.T, root string) {
		write(t, root, "charts/.."+version+"/web.tgz", version)
		link(t, ".."+version, filepath.Join(root, "charts/..data_tmp"))
		rename(t, root, "charts/..data_tmp", "charts/..data")
		remove(t, root, "charts/web")
		if _, err := os.Lstat(filepath.Join(root, "charts/web.tgz")); err != nil {
			link(t, "..data/web.tgz", filepath.Join(root, "charts/web.tgz"))
		}
	}
}

func wait(t *testing.T, noticed chan struct{}, what string) {
	t.Helper()
	select {
	case <-noticed:
	case <-time.After(patience):
		t.Fatal("it never comes that " + what)
	}
}

// rest lets go of what was noticed until nothing is for longer than a change takes to settle.
func rest(noticed chan struct{}) {
	for {
		select {
		case <-noticed:
		case <-time.After(2 * latest):
			return
		}
	}
}

func write(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func rename(t *testing.T, root, from, to string) {
	t.Helper()
	require.NoError(t, os.Rename(filepath.Join(root, from), filepath.Join(root, to)))
}

func remove(t *testing.T, root, name string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(filepath.Join(root, name)))
}

func link(t *testing.T, to, name string) {
	t.Helper()
	require.NoError(t, os.Symlink(to, name))
}
