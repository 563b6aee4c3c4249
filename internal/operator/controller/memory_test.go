package controller

import (
	"testing"

	"k8s.io/apimachinery/pkg/types"
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
	for _, want := range []bool{true, false} {
		if got := first.groups.set([]string{appService.Group, ""}); got != want {
			t.Errorf("set for the first time: got %t, want %t", got, want)
		}
	}
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
