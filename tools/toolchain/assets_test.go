package toolchain

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAssets(t *testing.T) {
	says := func(text string) string { return "#!/bin/sh\n" + text + "\n" }
	cases := map[string]struct {
		script string // of the program in the folder; none if empty
		used   bool
		want   string
	}{
		"another patch release":       {says("echo Kubernetes v1.2.9"), true, "using hello v1.2.9 of KUBEBUILDER_ASSETS, "},
		"a version without v":         {says("echo etcd Version: 1.2.3; echo Go Version: go1.26.8"), true, "using hello v1.2.3 of"},
		"another minor release":       {says("echo Kubernetes v1.3.3"), false, "not using hello v1.3.3 (it must be v1.2) of KUBEBUILDER_ASSETS"},
		"a program that fails":        {says("echo no such flag >&2; exit 3"), false, "not using hello (exit status 3: no such flag) of"},
		"a program that says nothing": {says("exit 0"), false, "not using hello (it says no version) of"},
		"an empty folder":             {"", false, " has none of hello"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			w, hello, output := published(t, "")
			w.source, w.assets = nil, t.TempDir()
			path := filepath.Join(w.assets, "hello")
			if tc.script != "" {
				write(t, path, tc.script)
				require.NoError(t, os.Chmod(path, 0o755))
			}
			programs, err := w.ensure(t.Context(), []program{hello})
			if err != nil || (programs["hello"] == path) != tc.used {
				t.Errorf("got %v (error %v), want the one in %s: %t", programs, err, w.assets, tc.used)
			}
			if !tc.used && !isBuilt(t, programs["hello"]) {
				t.Errorf("got %v, want a built program", programs)
			}
			if first, _, _ := strings.Cut(output.String(), "\n"); !strings.Contains(first, tc.want) {
				t.Errorf("got output %q, want %q first", output.String(), tc.want)
			}
		})
	}
}
