package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"reflect"
	"strings"
	"testing"

	helmrelease "helm.sh/helm/v3/pkg/release"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/render"
)

// FuzzDecodeManifest: whatever someone writes into a record, it is decoded within bounds, or refused in one line.
func FuzzDecodeManifest(f *testing.F) {
	secret, err := encode(&helmrelease.Release{Name: "web", Version: 1, Labels: map[string]string{}, Info: &helmrelease.Info{}, Manifest: "---\nkind: ConfigMap\n"}, Source{})
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
		manifest, err := Manifest(payload)
		if err != nil && (manifest != "" || strings.Contains(err.Error(), "\n")) {
			t.Errorf("got %d bytes and the error %q", len(manifest), err)
		}
		if len(manifest) > maxUnpacked {
			t.Errorf("got %d bytes", len(manifest))
		}
	})
}

// FuzzReadRecord: whatever manifest someone writes into a record, it is refused in one line, or holds objects that can be printed and are
// the same when they are read again; and what belongs elsewhere was not rendered for the resource.
func FuzzReadRecord(f *testing.F) {
	const ours = `---
# Source: appservice/templates/configmap.yaml
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"web-config","namespace":"demo","annotations":{"app.example.com/digest":"0"},` +
		`"ownerReferences":[{"apiVersion":"app.example.com/v1","kind":"AppService","name":"web","uid":"uid","controller":true}]},"data":{"a":"b"}}
`
	for _, manifest := range []string{
		ours, strings.ReplaceAll(ours, "demo", "other"), strings.ReplaceAll(ours, "ConfigMap", "AppService"), ours + ours, "", "---", "# Source: a\n[]", "a: &a [*a]",
		"{\"apiVersion\":7}", "---\n# Source: x\n{\"metadata\":{\"name\":[],\"annotations\":{\"a\":{}}}}", strings.Repeat("---\n# Source: x\n{}\n", 50),
		`{"kind":"List","apiVersion":"v1","items":[{"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"a"}}]}`,
	} {
		f.Add(manifest)
	}
	owner := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1.GroupVersion.String(), "kind": v1.Kind, "metadata": map[string]any{"name": "web", "namespace": "demo", "uid": "uid"},
	}}
	f.Fuzz(func(t *testing.T, manifest string) {
		objects, err := render.ReadManifest(manifest)
		if err != nil {
			if len(objects) > 0 || strings.Contains(err.Error(), "\n") {
				t.Errorf("got %d objects and the error %q", len(objects), err)
			}
			return
		}
		again, err := render.ReadManifest(manifest)
		if err != nil || !reflect.DeepEqual(objects, again) {
			t.Errorf("read twice, it is not the same: %v", err)
		}
		for _, object := range objects {
			if rendered(owner, object) && object.GetNamespace() != "demo" && object.GetNamespace() != "" {
				t.Errorf("%s counts as rendered", kube.KeyOf(object))
			}
			if _, err := render.BodyOf(object); err != nil {
				t.Errorf("%s cannot be printed: %v", kube.KeyOf(object), err)
			}
		}
	})
}
