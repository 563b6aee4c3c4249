package chart

import (
	"maps"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

func TestForeignKinds(t *testing.T) {
	bucket := schema.GroupKind{Group: "example.com", Kind: "Bucket"}
	cases := map[string]struct {
		said  string
		want  map[schema.GroupKind]Foreign
		fails string
	}{
		"nothing is said":      {"", map[schema.GroupKind]Foreign{}, ""},
		"a resource":           {"Bucket.example.com: {resource: buckets}", map[schema.GroupKind]Foreign{bucket: {Resource: "buckets"}}, ""},
		"all that can be said": {"Bucket.example.com: {resource: b, clusterScoped: true, option: storage}", map[schema.GroupKind]Foreign{bucket: {"b", true, "storage"}}, ""},
		"no resource":          {"Bucket.example.com: {option: storage}", nil, "Bucket.example.com must be a kind with its group, and have a resource"},
		"no group":             {"Bucket: {resource: buckets}", nil, "Bucket must be a kind with its group"},
		"an unknown word":      {"Bucket.example.com: {plural: buckets}", nil, `unknown field "plural"`},
		"an option that cannot be a folder": {
			"Bucket.example.com: {resource: buckets, option: ../x}", nil, `option "../x" of Bucket.example.com must be a word of letters and digits`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			c := &chart.Chart{Metadata: &chart.Metadata{Annotations: map[string]string{AnnotationForeignKinds: test.said}}}
			got, err := ForeignKinds(c)
			if (err != nil) != (test.fails != "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Fatalf("got error %v, want %q", err, test.fails)
			}
			if !maps.Equal(got, test.want) {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}
