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
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/toolchain"
)

// plugin is a manifest as krew reads it (sigs.k8s.io/krew/pkg/index, v1alpha2).
type plugin struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Version          string `json:"version"`
		ShortDescription string `json:"shortDescription"`
		Description      string `json:"description"`
		Caveats          string `json:"caveats"`
		Homepage         string `json:"homepage"`
		Platforms        []struct {
			URI      string                `json:"uri"`
			Sha256   string                `json:"sha256"`
			Selector *metav1.LabelSelector `json:"selector"`
			Files    []struct{ From, To string }
			Bin      string `json:"bin"`
		} `json:"platforms"`
	} `json:"spec"`
}

// The requirements of krew on a manifest: its validation, and the rules of its index.
func TestKrewTakesTheManifest(t *testing.T) {
	sums := map[platform]string{}
	for _, p := range platforms {
		sums[p] = sum([]byte(p.String()))
	}
	text, err := manifest("1.2.3", sums)
	require.NoError(t, err)
	var got plugin
	if err := yaml.UnmarshalStrict(text, &got); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	spec := got.Spec
	switch {
	case got.APIVersion != "krew.googlecontainertools.github.com/v1alpha2" || got.Kind != "Plugin":
		t.Errorf("it is a %s of %s", got.Kind, got.APIVersion)
	case !regexp.MustCompile(`^[\w-]+$`).MatchString(got.Name) || got.Name != "appservice":
		t.Errorf("its name is %q", got.Name)
	case !regexp.MustCompile(`^v\d+\.\d+\.\d+$`).MatchString(spec.Version):
		t.Errorf("its version is %q", spec.Version)
	case spec.ShortDescription == "" || len(spec.ShortDescription) > 50 || strings.ContainsAny(spec.ShortDescription, "\r\n"):
		t.Errorf("its short description is %q: one line of at most 50 characters", spec.ShortDescription)
	case spec.Description == "" || !strings.HasPrefix(spec.Homepage, "https://"):
		t.Error("description or homepage are missing")
	case len(spec.Platforms) != len(platforms):
		t.Fatalf("it has %d platforms", len(spec.Platforms))
	}
	for _, p := range platforms {
		var matching []int
		for i, one := range spec.Platforms {
			selector, err := metav1.LabelSelectorAsSelector(one.Selector)
			require.NoError(t, err)
			if selector.Matches(labels.Set{"os": p.os, "arch": p.arch}) {
				matching = append(matching, i)
			}
		}
		if len(matching) != 1 {
			t.Fatalf("%s: %d platforms match", p, len(matching))
		}
		one := spec.Platforms[matching[0]]
		if one.Sha256 != sums[p] || !strings.HasPrefix(one.URI, "https://") || !strings.HasSuffix(one.URI, "/v1.2.3/"+p.file("1.2.3")) {
			t.Errorf("%s: got %s with %s", p, one.URI, one.Sha256)
		}
		packed := packedFor(t, p)
		var taken []string
		for _, file := range one.Files {
			taken = append(taken, file.From)
			if file.To != "." || !slices.Contains(packed, file.From) {
				t.Errorf("%s: %s is not in the archive, which has %v, or not put where it belongs: %s", p, file.From, packed, file.To)
			}
		}
		if !slices.Contains(taken, one.Bin) || !slices.Contains(taken, "LICENSE") {
			t.Errorf("%s: the program %s or the license is not taken: %v", p, one.Bin, taken)
		}
	}
}

// packedFor lists what is in the archive of a platform, which is the same each time it is packed.
func packedFor(t *testing.T, p platform) []string {
	t.Helper()
	root, err := toolchain.Root()
	require.NoError(t, err)
	content, err := p.archive(root, []byte("program"))
	require.NoError(t, err)
	if again, err := p.archive(root, []byte("program")); err != nil || !bytes.Equal(content, again) {
		t.Errorf("%s: packed again, the archive is another one (%v)", p, err)
	}
	var names []string
	if p.os == "windows" {
		archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
		require.NoError(t, err)
		for _, file := range archive.File {
			names = append(names, file.Name)
		}
		return names
	}
	plain, err := gzip.NewReader(bytes.NewReader(content))
	require.NoError(t, err)
	archive := tar.NewReader(plain)
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return names
		}
		require.NoError(t, err)
		if executable := header.Mode&0o111 != 0; executable == (header.Name == "LICENSE") {
			t.Errorf("%s: %s has mode %o", p, header.Name, header.Mode)
		}
		names = append(names, header.Name)
	}
}

func TestSelected(t *testing.T) {
	for name, test := range map[string]struct {
		only string
		want int
		err  string
	}{
		"all":              {"", len(platforms), ""},
		"two":              {"linux/amd64,darwin/arm64", 2, ""},
		"one that is none": {"linux/amd64,plan9/386", 0, `"plan9/386" is none of`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := selected(test.only)
			if len(got) != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got %v and %v", got, err)
			}
		})
	}
}

// go install PACKAGE@VERSION refuses a module that replaces or excludes others.
func TestTheProgramCanBeInstalledByGo(t *testing.T) {
	root, err := toolchain.Root()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), "go", "mod", "edit", "-json")
	cmd.Dir = root
	text, err := cmd.Output()
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
