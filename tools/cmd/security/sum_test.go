package main

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/example/appservice-operator/tools/figures"
)

func TestSum(t *testing.T) {
	cases := map[string]struct {
		input, vectors, rights string
		want, err              string
	}{
		"all is well": {
			"injections=600 changed=0", "vectors=40 blocked=40", "unused_rights=0 forbidden=0",
			"SECURITY injections=600 changed=0 vectors=40 blocked=40 unused_rights=0 forbidden=0", "",
		},
		"a part is missing": {
			"injections=600 changed=0", "vectors=40 blocked=40", "",
			"SECURITY injections=600 changed=0 vectors=40 blocked=40 unused_rights=? forbidden=?", "the part rights left no figures",
		},
		"a figure is missing": {
			"injections=600", "vectors=40 blocked=40", "unused_rights=0 forbidden=0",
			"SECURITY injections=600 changed=? vectors=40 blocked=40 unused_rights=0 forbidden=0", "input has no figure changed",
		},
		"a vector comes through": {
			"injections=600 changed=0", "vectors=40 blocked=39", "unused_rights=0 forbidden=0",
			"SECURITY injections=600 changed=0 vectors=40 blocked=39 unused_rights=0 forbidden=0", "blocked is 39",
		},
		"too little was tried": {
			"injections=4 changed=0", "vectors=40 blocked=40", "unused_rights=0 forbidden=0",
			"SECURITY injections=4 changed=0 vectors=40 blocked=40 unused_rights=0 forbidden=0", "injections is 4 and has to be at least 500",
		},
		"what is no figure": {
			"injections=600 changed=none", "vectors=40 blocked=40", "unused_rights=0 forbidden=0",
			"SECURITY injections=600 changed=? vectors=40 blocked=40 unused_rights=0 forbidden=0", `"changed=none"`,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			folder := fstest.MapFS{}
			for part, text := range map[string]string{"input": test.input, "vectors": test.vectors, "rights": test.rights} {
				if text != "" {
					folder[part] = &fstest.MapFile{Data: []byte(text + "\n")}
				}
			}
			summary, err := figures.Sum(folder, "SECURITY", wanted)
			if summary != test.want {
				t.Errorf("got  %s\nwant %s", summary, test.want)
			}
			if (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("got error %v, want one with %q", err, test.err)
			}
		})
	}
}
