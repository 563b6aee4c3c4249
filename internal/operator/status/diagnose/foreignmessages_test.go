package diagnose

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLastWords(t *testing.T) {
	cases := map[string]struct{ message, want string }{
		"nothing":                 {"", ""},
		"the last line":           {"starting\nno license\n", "no license"},
		"a Go panic":              {"starting\npanic: no database\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:8 +0x1d\nexit status 2", "panic: no database"},
		"a Java trace":            {"Exception in thread \"main\" java.lang.Error: no bean\n\tat a.B.c(B.java:1)\n\tat a.D.e(D.java:2)", `Exception in thread "main" java.lang.Error: no bean`},
		"a Python trace":          {"Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nKeyError: 'url'", "KeyError: 'url'"},
		"a time in front":         {"2026-01-02T03:04:05.678Z no license", "no license"},
		"a time of klog in front": {"F0102 03:04:05.678901       1 main.go:8] no license", "main.go:8] no license"},
		"a password in a URL":     {"cannot connect to postgres://web:hunter2@db/web", "cannot connect to postgres://…@db/web"},
		"a password by name":      {"login with password=hunter2 user=web failed", "login with password=… user=web failed"},
		"a token in JSON":         {`{"level":"error","api_key": "abc def","msg":"no"}`, `{"level":"error","api_key": …,"msg":"no"}`},
		"a megabyte":              {"no room:" + strings.Repeat(" ", maxRead) + "left", "no room:"},
		"half a letter":           {"no:" + strings.Repeat(" ", maxRead-4) + "é", "no:"},
		"a colored line":          {"\x1b[1;31mno license\x1b[0m", "no license"},
		"a colored password":      {"login with pass\x1b[0mword=hunter2 failed", "login with password=… failed"},
		"what moves the cursor":   {"\x1b[2K\x1b[1A\x1b]0;pwned\x07all good", "all good"},
		"what is no sequence":     {"\x1b \u009b2J \u202egood", `\u001b \u009b2J \u202egood`},
		"a bearer":                {"Authorization: Bearer abc.def refused", "Authorization: … refused"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, lastWords(test.message))
		})
	}
}

func TestNodes(t *testing.T) {
	cases := map[string]struct{ message, want string }{
		"no nodes": {"no nodes available to schedule pods", "the cluster has no nodes"},
		"several obstacles": {
			"0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint {dedicated: gpu}. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
			"1 of 3 nodes has too little cpu left; 2 of 3 nodes have the taint dedicated, which spec.tolerations does not name",
		},
		"an obstacle of all":     {"0/2 nodes are available: 2 Insufficient nvidia.com/gpu.", "all 2 nodes have too little nvidia.com/gpu left"},
		"taints without names":   {"0/1 nodes are available: 1 node(s) had untolerated taint(s).", "the only node has a taint that spec.tolerations does not name"},
		"cordoned":               {"0/2 nodes are available: 2 node(s) were unschedulable.", "all 2 nodes are closed for new pods (cordoned)"},
		"neighbors":              {"0/2 nodes are available: 2 node(s) didn't match pod anti-affinity rules.", "all 2 nodes do not satisfy the pod (anti-)affinity of spec.affinity"},
		"what nobody thought of": {"0/2 nodes are available: 2 moons.", "2 moons"},
		"another message":        {"running Reserve plugin", "running Reserve plugin"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, test.want, nodes(test.message))
		})
	}
}
