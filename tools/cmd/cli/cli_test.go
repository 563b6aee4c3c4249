package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/toolchain"
)

// plugin is a manifest as krew reads it (sigs.k8s.io/krew/pkg/index, v1alpha2).
type plugin struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Version, ShortDescription, Description, Caveats, Homepage string
		Platforms                                                 []struct {
			URI, Sha256, Bin string
			Selector         *metav1.LabelSelector
			Files            []struct{ From, To string }
		}
	} `json:"spec"`
}

// The requirements of krew on a manifest: its validation, and the rules of its index.
func TestKrewTakesTheManifest(t *testing.T) {
	sums := map[platform]string{}
	for _, p := range platforms {
		sums[p] = "sum of " + p.String()
	}
	text, err := manifest("1.2.3", sums)
	require.NoError(t, err)
	var got plugin
	require.NoError(t, yaml.UnmarshalStrict(text, &got))
	spec := got.Spec
	for what, c := range map[string]struct{ text, like string }{
		"its kind":        {got.APIVersion + " " + got.Kind, `^krew\.googlecontainertools\.github\.com/v1alpha2 Plugin$`},
		"its name":        {got.Name, `^appservice$`},
		"its version":     {spec.Version, `^v\d+\.\d+\.\d+$`},
		"one short line":  {spec.ShortDescription, `^.{1,50}$`},
		"its description": {spec.Description, `.`},
		"its home page":   {spec.Homepage, `^https://`},
	} {
		if !regexp.MustCompile(c.like).MatchString(c.text) {
			t.Errorf("%s is %q", what, c.text)
		}
	}
	if len(spec.Platforms) != len(platforms) {
		t.Fatalf("it has %d platforms", len(spec.Platforms))
	}
	for i, p := range platforms {
		one := spec.Platforms[i]
		require.Equal(t, map[string]string{"os": p.OS, "arch": p.Arch}, one.Selector.MatchLabels)
		if one.Sha256 != sums[p] || !strings.HasPrefix(one.URI, "https://") ||
			!strings.HasSuffix(one.URI, "/v1.2.3/"+p.File("1.2.3")) {
			t.Errorf("%s: got %s with %s", p, one.URI, one.Sha256)
		}
		taken := map[string]bool{}
		for _, file := range one.Files {
			if taken[file.From] = file.From != "LICENSE"; file.To != "." {
				t.Errorf("%s: %s is put into %s", p, file.From, file.To)
			}
		}
		if diff := cmp.Diff(packed(t, p), taken); diff != "" || one.Bin != p.Program() {
			t.Errorf("%s: %s is run, and what is taken is not what is in the archive (-archive +taken):\n%s", p, one.Bin, diff)
		}
	}
}

// packed lists what is in the archive of a platform, which is the same each time it is packed, and what of it can run.
func packed(t *testing.T, p platform) map[string]bool {
	t.Helper()
	root, err := toolchain.Root()
	require.NoError(t, err)
	content, err := p.archive(root, []byte("program"))
	require.NoError(t, err)
	if again, err := p.archive(root, []byte("program")); err != nil || !bytes.Equal(content, again) {
		t.Errorf("%s: packed again, the archive is another one (%v)", p, err)
	}
	found := map[string]bool{}
	if p.OS == "windows" {
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		for _, file := range archive.File {
			found[file.Name] = file.Mode()&0o111 != 0
		}
		return found
	}
	plain, err := gzip.NewReader(bytes.NewReader(content))
	require.NoError(t, err)
	for archive := tar.NewReader(plain); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		found[header.Name] = header.Mode&0o111 != 0
	}
}

func TestSelected(t *testing.T) {
	for only, want := range map[string]int{"": len(platforms), "linux/amd64,darwin/arm64": 2, "linux/amd64,plan9/386": 0} {
		if got, err := selected(only); len(got) != want || (err == nil) != (want > 0) {
			t.Errorf("%q: got %v and %v", only, got, err)
		}
	}
}

// go install PACKAGE@VERSION refuses a module that replaces or excludes others.
func TestTheProgramCanBeInstalledByGo(t *testing.T) {
	root, err := toolchain.Root()
	require.NoError(t, err)
	text, err := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json", root+"/go.mod").Output()
	require.NoError(t, err)
	var mod struct {
		Module           struct{ Path string }
		Replace, Exclude []any
	}
	require.NoError(t, json.Unmarshal(text, &mod))
	if len(mod.Replace)+len(mod.Exclude) > 0 || mod.Module.Path != "github.com/example/appservice-operator" {
		t.Errorf("module %s has %d replace and %d exclude directives", mod.Module.Path, len(mod.Replace), len(mod.Exclude))
	}
}
