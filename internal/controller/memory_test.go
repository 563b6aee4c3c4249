package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/kube"
)

func TestMemory(t *testing.T) {
	var m memory
	name := types.NamespacedName{Namespace: "demo", Name: "web"}
	if gone := m.forget(name); gone != nil {
		t.Errorf("got %v, want none to forget", gone)
	}
	first := m.remember(name, "a")
	if m.remember(name, "a") != first || m.of(name) != first || m.uid(name) != "a" {
		t.Error("the same resource is remembered twice")
	}
	first.groups.set([]kube.Key{{GroupKind: appService.GroupKind()}}, []kube.Key{{}})
	for group, want := range map[string]int{appService.Group: 1, "": 1, "other.example.com": 0} {
		if got := m.rendering(group); len(got) != want {
			t.Errorf("group %q: got %v, want %d", group, got, want)
		}
	}
	if gone := m.forget(name); gone != first {
		t.Errorf("got %v, want the first", gone)
	}
	if m.uid(name) != "" || m.remember(name, "a") == first {
		t.Error("what was forgotten is remembered")
	}
}

func TestVerifiedObjectsAreNotComparedAgain(t *testing.T) {
	key := func(name string) kube.Key {
		return kube.Key{GroupKind: appService.GroupKind(), Name: name}
	}
	v := verify("a", map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "8")})
	cases := map[string]struct {
		digest  string
		objects map[kube.Key]client.Object
		want    bool
	}{
		"the very same":        {"a", map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "8")}, true},
		"another release":      {"b", map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "8")}, false},
		"one in a new version": {"a", map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "9")}, false},
		"one less":             {"a", map[kube.Key]client.Object{key("a"): app("1", "7")}, false},
		"another one":          {"a", map[kube.Key]client.Object{key("a"): app("1", "7"), key("c"): app("2", "8")}, false},
		"one more":             {"a", map[kube.Key]client.Object{key("a"): app("1", "7"), key("b"): app("2", "8"), key("c"): app("3", "9")}, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := v.covers(test.digest, test.objects); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}
