package toolchain

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnsureNamesTheKnownProgramsWhenOneIsUnknown(t *testing.T) {
	_, err := Ensure(t.Context(), nil, "kubectl", "kubeadm")
	if err == nil {
		t.Fatal("no error for an unknown program")
	}
	for _, want := range []string{`"kubeadm"`, "etcd", "kube-apiserver", "kubectl", "kwokctl"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error %q does not name %s", err, want)
		}
	}
}

func TestCatalogIsPinned(t *testing.T) {
	root, err := Root()
	require.NoError(t, err)
	versions, err := kubernetesVersions(filepath.Join(root, "tools", "pins"))
	if err != nil || !slices.Contains(versions, DefaultKubernetes) {
		t.Fatalf("got the versions %v (error %v) of Kubernetes, want %s among them", versions, err, DefaultKubernetes)
	}
	for _, version := range versions {
		for _, p := range catalog(version) {
			pin, err := pinOf(p, filepath.Join(root, "tools", "pins", p.module), "go")
			if err != nil {
				t.Errorf("%s: %v", p.name, err)
			}
			if strings.HasPrefix(p.module, kubernetesModule) && !strings.HasPrefix(pin.version, "v"+version+".") {
				t.Errorf("%s pins %s %s", p.module, p.name, pin.version)
			}
		}
	}
}

func TestRoot(t *testing.T) {
	repository := t.TempDir()
	write(t, filepath.Join(repository, "go.mod"), "module "+rootModule+"\n")
	write(t, filepath.Join(repository, "tools", "pins", "kwok", "go.mod"), "module "+rootModule+"/tools/pins/kwok\n")
	cases := map[string]struct {
		dir     string
		wantErr bool
	}{
		"the repository itself":                   {dir: repository},
		"a module of its own, below it":           {dir: filepath.Join(repository, "tools", "pins", "kwok")},
		"a folder that is not in the repository":  {dir: t.TempDir(), wantErr: true},
		"the folder of the repository's modules":  {dir: filepath.Join(repository, "tools")},
		"the file system's root has no go.mod in": {dir: "/", wantErr: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Chdir(tc.dir)
			got, err := Root()
			if (err != nil) != tc.wantErr {
				t.Fatalf("got error %v, want one: %t", err, tc.wantErr)
			}
			if want, _ := filepath.EvalSymlinks(repository); err == nil && resolve(t, got) != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestGoFlags(t *testing.T) {
	cases := map[string]struct{ user, want string }{
		"unset":                            {"", "-buildvcs=false"},
		"already without version control":  {"-buildvcs=false", "-buildvcs=false"},
		"what changes programs is dropped": {"-mod=vendor -race -tags=x", "-buildvcs=false"},
		"what does not is kept":            {"-modcacherw -p=1", "-buildvcs=false -modcacherw -p=1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := goFlags(tc.user); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// lockedBuffer collects what several goroutines print.
type lockedBuffer struct {
	mutex sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.Buffer.Write(p)
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

func resolve(t *testing.T, path string) string {
	t.Helper()
	resolved, err := filepath.EvalSymlinks(path)
	require.NoError(t, err)
	return resolved
}
