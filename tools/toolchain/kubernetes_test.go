package toolchain

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestKubernetesVersion(t *testing.T) {
	tools := t.TempDir()
	for _, module := range []string{"etcd", "kubernetes-1.34", "kubernetes-1.36"} {
		write(t, filepath.Join(tools, module, "go.mod"), "module "+module+"\n")
	}
	cases := map[string]struct{ value, want, wantErr string }{
		"unset":             {"", DefaultKubernetes, ""},
		"one that is there": {"1.34", "1.34", ""},
		"one that is not":   {"1.33", "", "cannot use KUBERNETES_VERSION=1.33: the known ones are 1.34, 1.36"},
		"a patch release":   {"1.34.4", "", "cannot use KUBERNETES_VERSION=1.34.4"},
		"a folder":          {"1.34/../etcd", "", "cannot use KUBERNETES_VERSION=1.34/../etcd"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("KUBERNETES_VERSION", tc.value)
			got, err := kubernetesVersion(tools)
			if got != tc.want || (err == nil) != (tc.wantErr == "") {
				t.Fatalf("got %q and error %v, want %q and error %q", got, err, tc.want, tc.wantErr)
			}
			if err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got error %v, want %q", err, tc.wantErr)
			}
		})
	}
}
