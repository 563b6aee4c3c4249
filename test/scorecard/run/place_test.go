package main

import (
	"strings"
	"testing"
)

// The image that is brought into a cluster is the one that a kubelet asks for when the first sample names it.
func TestTheImageOfTheExampleHasItsFullName(t *testing.T) {
	got, err := (&place{root: "../../.."}).exampleImage()
	if want := "docker.io/library/nginx:"; err != nil || !strings.HasPrefix(got, want) {
		t.Errorf("got %q and error %v, want %q and a tag", got, err, want)
	}
	if _, err := (&place{root: t.TempDir()}).exampleImage(); err == nil {
		t.Error("without a sample there is no error")
	}
}
