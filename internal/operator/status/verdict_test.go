package status

import "testing"

// The stage is read from the message again.
func TestTheStageInAMessage(t *testing.T) {
	for message, want := range map[string]string{
		(&Stage{Name: "before"}).prefix() + "Job web-release-1: it runs": "before",
		"stage lights: none": "lights", "stage": "", "Deployment web: stage before: x": "", "": "",
	} {
		if got := StageIn(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
