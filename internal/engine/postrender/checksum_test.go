package postrender

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestAChecksumOfASecretGetsAKey(t *testing.T) {
	secret := func(name string) map[string]any {
		return map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name}, "data": map[string]any{"url": "eA=="}}
	}
	filled := map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "a"}}
	workload := func(kind, checksum string, refers any) map[string]any {
		annotations := map[string]any{AnnotationChecksum: checksum}
		if checksum == "" {
			annotations = nil
		}
		return map[string]any{"apiVersion": "apps/v1", "kind": kind, "metadata": map[string]any{"name": "web"}, "spec": map[string]any{
			"template": map[string]any{"metadata": map[string]any{"annotations": annotations}, "spec": map[string]any{"containers": []any{
				map[string]any{"name": "app", "envFrom": []any{refers}},
			}}},
		}}
	}
	takes := func(kind, name string) any { return map[string]any{kind: map[string]any{"name": name}} }
	sum, other := strings.Repeat("a", 64), strings.Repeat("b", 64)
	key := strings.Repeat("1", 32)
	with := keyed(key, sum)
	require.Len(t, with, 32)
	for name, test := range map[string]struct {
		objects []map[string]any
		key     string
		becomes string
		needs   bool // a key
	}{
		"of a rendered Secret":                {[]map[string]any{secret("a"), workload("Deployment", sum, takes("secretRef", "a"))}, key, with, true},
		"of replicas":                         {[]map[string]any{secret("a"), workload("StatefulSet", sum, takes("secretRef", "a"))}, key, with, true},
		"that pods show already":              {[]map[string]any{secret("a"), workload("Deployment", sum, takes("secretRef", "a"))}, NewChecksumKey("u", "a", []string{other, sum}), sum, true},
		"after another one":                   {[]map[string]any{secret("a"), workload("Deployment", sum, takes("secretRef", "a"))}, key + ":" + strings.Repeat("2", 32), with, true},
		"the key is not known":                {[]map[string]any{secret("a"), workload("Deployment", sum, takes("secretRef", "a"))}, "", sum, true},
		"of a ConfigMap":                      {[]map[string]any{secret("a"), workload("Deployment", sum, takes("configMapRef", "a"))}, key, sum, false},
		"of somebody else's Secret":           {[]map[string]any{secret("b"), workload("Deployment", sum, takes("secretRef", "a"))}, key, sum, false},
		"of a Secret that the operator fills": {[]map[string]any{filled, workload("Deployment", sum, takes("secretRef", "a"))}, key, sum, false},
		"there is no Secret":                  {[]map[string]any{workload("Deployment", sum, takes("secretRef", "a"))}, key, sum, false},
		"there is no checksum":                {[]map[string]any{secret("a"), workload("Deployment", "", takes("secretRef", "a"))}, key, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			var objects []*unstructured.Unstructured
			for _, content := range test.objects {
				objects = append(objects, (&unstructured.Unstructured{Object: content}).DeepCopy())
			}
			names, _ := Revealing(objects)
			require.Equal(t, test.needs, len(names) > 0)
			in := &Input{Facts: Facts{Keys: map[string]string{"a": test.key}}}
			require.NoError(t, Checksum(t.Context(), in, objects))
			got, _, _ := unstructured.NestedString(objects[len(objects)-1].Object, "spec", "template", "metadata", "annotations", AnnotationChecksum)
			require.Equal(t, test.becomes, got)
			if test.needs && test.key != "" {
				require.Equal(t, map[string]string{"a": test.key}, ChecksumKeys(objects), "the Secret has no key")
			} else {
				require.Nil(t, ChecksumKeys(objects))
			}
		})
	}
}

func TestKeysOfChecksums(t *testing.T) {
	sum := strings.Repeat("a", 64)
	key := NewChecksumKey("uid", "web", nil)
	require.Equal(t, key, NewChecksumKey("uid", "web", nil), "each reconcile would render something else")
	for _, another := range []string{NewChecksumKey("other", "web", nil), NewChecksumKey("uid", "other", nil)} {
		require.NotEqual(t, keyed(key, sum), keyed(another, sum))
	}
	for _, shown := range []string{sum, "sha1", strings.ToUpper(sum)} {
		goesOn := NewChecksumKey("uid", "web", []string{"other", shown})
		require.Equal(t, shown, keyed(goesOn, shown))
		require.Equal(t, keyed(key, "another"), keyed(goesOn, "another"))
		require.NotContains(t, goesOn, shown)
		require.Equal(t, key, NamingKey(map[string]string{"web": goesOn, "zoo": "x"}))
	}
	require.Empty(t, NamingKey(nil))
	for text, counts := range map[string]bool{key: true, key + ":" + key: true, key + ":" + key + "," + key: true,
		"": false, "?": false, key + ":": false, key + "0": false, key + ":" + sum: false, key[1:]: false} {
		secret := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Secret"}}
		secret.SetName("web")
		secret.SetUID(types.UID("u"))
		secret.SetAnnotations(map[string]string{v1.AnnotationChecksumKey: text})
		require.Equal(t, counts, ChecksumKeys([]*unstructured.Unstructured{secret})["web"] == text && text != "", text)
		secret.SetKind("ConfigMap")
		require.Nil(t, ChecksumKeys([]*unstructured.Unstructured{secret}))
	}
}

// A release that is applied again has the key that its Secret has by now, and shows what it showed.
func TestAnEarlierReleaseKeepsTheKey(t *testing.T) {
	objects := func(key string) []*unstructured.Unstructured {
		return []*unstructured.Unstructured{
			parse(t, "{apiVersion: v1, kind: Secret, metadata: {name: web, annotations: {"+key+"}}, data: {url: eA==}}"),
			parse(t, "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {metadata: {annotations: {"+AnnotationChecksum+": before}}, "+
				"spec: {containers: [{name: app, image: x, envFrom: [{secretRef: {name: web}}]}]}}}}"),
		}
	}
	in := &Input{Facts: Facts{Keys: map[string]string{"web": "now"}}}
	for had, want := range map[string]string{"": "now", v1.AnnotationChecksumKey + ": then": "then"} {
		again := objects(had)
		require.NoError(t, KeepKeys(t.Context(), in, again))
		require.Equal(t, want, again[0].GetAnnotations()[v1.AnnotationChecksumKey])
		require.Equal(t, []string{"before"}, ChecksumsOf(again))
	}
}
