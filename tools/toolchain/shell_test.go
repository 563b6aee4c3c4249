package toolchain

import "testing"

func TestExports(t *testing.T) {
	got := Exports("/it's/kubeconfig.yaml", "/tools/kubectl")
	want := `export KUBECONFIG='/it'\''s/kubeconfig.yaml'` + "\n" + `export PATH='/tools':"$PATH"` + "\n"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
