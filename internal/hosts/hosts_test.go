package hosts

import (
	"errors"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
)

var (
	appService = v1.GroupVersion.WithKind(v1.Kind)
	start      = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
)

// claimant is an AppService with the given spec, made some seconds after the start.
func claimant(t *testing.T, namespace, name string, seconds int, spec string) *unstructured.Unstructured {
	t.Helper()
	resource := &unstructured.Unstructured{Object: map[string]any{}}
	var content map[string]any
	if err := yaml.Unmarshal([]byte(spec), &content); err != nil {
		t.Fatal(err)
	}
	resource.Object["spec"] = content
	resource.SetGroupVersionKind(appService)
	resource.SetNamespace(namespace)
	resource.SetName(name)
	resource.SetUID(types.UID(namespace + "/" + name))
	resource.SetCreationTimestamp(metav1.NewTime(start.Add(time.Duration(seconds) * time.Second)))
	return resource
}

func TestClaims(t *testing.T) {
	cases := map[string]struct {
		spec string
		want []string
	}{
		"nothing":                      {"{}", nil},
		"a host":                       {"{ingress: {hosts: [{host: a.example.com}]}}", []string{"a.example.com/"}},
		"paths":                        {"{ingress: {hosts: [{host: a.example.com, paths: [{path: /x/}, {path: /y}]}]}}", []string{"a.example.com/x", "a.example.com/y"}},
		"a path without a path":        {"{ingress: {hosts: [{host: a.example.com, paths: [{port: 80}]}]}}", []string{"a.example.com/"}},
		"a route":                      {"{route: {parentRefs: [{name: g}], hostnames: [a.example.com, B.example.com]}}", []string{"a.example.com/", "b.example.com/"}},
		"a route without hosts":        {"{route: {parentRefs: [{name: g}]}}", nil},
		"rules of a route":             {"{route: {parentRefs: [{name: g}], hostnames: [a.example.com], rules: [{matches: [{path: /x}]}, {}]}}", []string{"a.example.com/", "a.example.com/x"}},
		"a rule for some requests":     {"{route: {parentRefs: [{name: g}], hostnames: [a.example.com], rules: [{matches: [{path: /x, method: GET}]}]}}", nil},
		"the same by both":             {"{ingress: {hosts: [{host: a.example.com}]}, route: {parentRefs: [{name: g}], hostnames: [a.example.com]}}", []string{"a.example.com/"}},
		"an ingress that is no object": {"{ingress: 7}", nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Claims(claimant(t, "demo", "web", 0, test.spec)); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestTheOldestKeepsAHost(t *testing.T) {
	const a, b = "{ingress: {hosts: [{host: a.example.com}]}}", "{ingress: {hosts: [{host: b.example.com}]}}"
	web := claimant(t, "demo", "web", 10, a)
	leaving := claimant(t, "demo", "leaving", 0, a)
	leaving.SetDeletionTimestamp(&metav1.Time{Time: start})
	leaving.SetFinalizers([]string{"example.com/wait"})
	cases := map[string]struct {
		others []client.Object
		want   string // the error; empty where it may have the host
	}{
		"alone":                       {nil, ""},
		"an older one":                {[]client.Object{claimant(t, "demo", "first", 0, a)}, `a.example.com/ is served by AppService "first", which is older: choose another host or path`},
		"an older one elsewhere":      {[]client.Object{claimant(t, "other", "first", 0, a)}, "a.example.com/ is served by an older AppService in another namespace: choose another host or path"},
		"a younger one":               {[]client.Object{claimant(t, "demo", "last", 20, a)}, ""},
		"one of the same second":      {[]client.Object{claimant(t, "demo", "another", 10, a)}, `a.example.com/ is served by AppService "another", which is older: choose another host or path`},
		"a later name of that second": {[]client.Object{claimant(t, "demo", "zebra", 10, a)}, ""},
		"an older one of another":     {[]client.Object{claimant(t, "demo", "first", 0, b)}, ""},
		"an older one that is going":  {[]client.Object{leaving}, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			informer := fake.NewClientBuilder().WithScheme(runtime.NewScheme()).WithObjects(append(test.others, web)...).
				WithIndex(web, Index, Claims).Build()
			err := (&Hosts{Informer: informer}).Check(t.Context(), web)
			if test.want == "" {
				if err != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			var conflict *ConflictError
			if !errors.As(err, &conflict) || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
