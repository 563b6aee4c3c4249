package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestBases(t *testing.T) {
	const dockerfile = "FROM --platform=$BUILDPLATFORM golang:1.26 AS builder\nRUN x\nFROM builder AS second\nFROM scratch\nFROM gcr.io/static:nonroot\nCOPY --from=builder /a /a\n"
	if got, want := bases(dockerfile), []string{"golang:1.26", "gcr.io/static:nonroot"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestTranslate(t *testing.T) {
	cases := map[string]struct {
		args []string
		want []string // how each command of buildah ends
	}{
		"a build":     {[]string{"build", "--tag", "a:1", "."}, []string{"--volume /go:/go --tag a:1 ."}},
		"a push":      {[]string{"push", "a:1"}, []string{"a:1 docker://a:1"}},
		"the builder": {[]string{"buildx", "inspect", "b"}, nil},
		"a list of images": {
			[]string{"buildx", "build", "--builder", "b", "--platform", "linux/arm64", "--tag", "a:1", "--push", "."},
			[]string{"--volume /go:/go --platform linux/arm64 --manifest a:1 .", "a:1 docker://a:1"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := translate("/folder", []string{"/go:/go"}, tc.args)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(tc.want) {
				t.Fatalf("got %q, want %d commands", got, len(tc.want))
			}
			for i, want := range tc.want {
				if line := strings.Join(got[i], " "); !strings.HasSuffix(line, want) {
					t.Errorf("got %q, want an end like %q", line, want)
				}
			}
		})
	}
	for _, args := range [][]string{nil, {"run", "x"}, {"buildx", "build", "--tag", "a:1", "."}} {
		if got, err := translate("/folder", nil, args); err == nil {
			t.Errorf("%q became %q", args, got)
		}
	}
}

func TestSame(t *testing.T) {
	err := same(map[string]int{"a": 1, "b": 2, "c": 3}, map[string]int{"a": 1, "b": 3, "d": 4})
	if want := "3 differences: b is 2, want 3; c is too much; d is missing"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if err := same(map[string]int{"a": 1}, map[string]int{"a": 1}); err != nil {
		t.Error(err)
	}
}
