package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

func TestRunErrors(t *testing.T) {
	cases := map[string]struct {
		args []string
		env  map[string]string
		want string
	}{
		"no command":              {want: "cannot guess the command"},
		"an unknown command":      {args: []string{"start"}, want: `cannot run "start"`},
		"an argument too many":    {args: []string{"down", "now"}, want: "down takes no arguments"},
		"a cluster of their own":  {args: []string{"down"}, env: map[string]string{"CLUSTER": "current"}, want: "cannot delete the current cluster"},
		"a CLUSTER that is wrong": {args: []string{"up"}, env: map[string]string{"CLUSTER": "mine"}, want: "cannot use CLUSTER=mine"},
		"a cluster that is down":  {args: []string{"env"}, want: "cannot find cluster appservice: it is not up"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"CLUSTER", "CLUSTER_NAME", "NODES"} {
				t.Setenv(variable, tc.env[variable])
			}
			t.Setenv("APPSERVICE_CACHE", t.TempDir())
			err := run(t.Context(), tc.args, io.Discard, io.Discard)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got error %v, want %q", err, tc.want)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if err := run(t.Context(), []string{"help"}, &out, io.Discard); err != nil || out.String() != usage {
		t.Errorf("got error %v and output %q", err, out.String())
	}
}
