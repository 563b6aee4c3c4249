package kinds

import "testing"

func TestComments(t *testing.T) {
	found := comments([]byte(`# Default values for the chart.

# How many pods run. One is enough.
replicas: 1
## @section Image
## @param image.tag [string] The tag, e.g. v1. Empty: that of the chart
## @param image.pull Never written
##
image:
  tag: ""
  # -- (string) When it is pulled,
  # which may be never. See the guide.
  # @default -- IfNotPresent
  pull: ""
  # debug: true
  # level: info
  quiet: false # says nothing at all
#########
# Ports #
#########
ports: []
# service.type -- Which Service it is
service:
  type: ClusterIP
bare: 1
`))
	for path, want := range map[string]string{
		"replicas":     "How many pods run.",
		"image":        "",
		"image.tag":    "The tag, e.g. v1.",
		"image.pull":   "Never written",
		"image.quiet":  "says nothing at all",
		"ports":        "",
		"service.type": "Which Service it is",
		"bare":         "",
	} {
		if got := found[path]; got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	for value, want := range map[string]string{"": "", "#": ""} {
		if got := above([]string{value, "a: 1"}, 2); got != want {
			t.Errorf("above %q: got %q", value, got)
		}
	}
	if got := comments([]byte("# -- (string) When it is pulled,\n# which may be never. See the guide.\n# @default -- x\npull: 1\n"))["pull"]; got != "When it is pulled, which may be never." {
		t.Errorf("got %q", got)
	}
}
