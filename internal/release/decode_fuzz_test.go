package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"strings"
	"testing"

	helmrelease "helm.sh/helm/v3/pkg/release"
)

// FuzzDecodeManifest: whatever somebody writes into a record, it is decoded within bounds, or refused in one line.
func FuzzDecodeManifest(f *testing.F) {
	secret, err := encode(&helmrelease.Release{Name: "web", Version: 1, Labels: map[string]string{}, Info: &helmrelease.Info{}, Manifest: "---\nkind: ConfigMap\n"})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(secret.Data["release"])
	f.Add([]byte("nonsense"))
	for _, text := range []string{"", "{}", `{"manifest":7}`, `{"manifest":"` + strings.Repeat("[", 1000) + `"}`, strings.Repeat(" ", 100_000)} {
		var packed bytes.Buffer
		writer := gzip.NewWriter(&packed)
		if _, err := writer.Write([]byte(text)); err != nil {
			f.Fatal(err)
		}
		if err := writer.Close(); err != nil {
			f.Fatal(err)
		}
		f.Add([]byte(base64.StdEncoding.EncodeToString(packed.Bytes())))
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		manifest, err := decodeManifest(payload)
		if err != nil && (manifest != "" || strings.Contains(err.Error(), "\n")) {
			t.Errorf("got %d bytes and the error %q", len(manifest), err)
		}
		if len(manifest) > maxUnpacked {
			t.Errorf("got %d bytes", len(manifest))
		}
	})
}
