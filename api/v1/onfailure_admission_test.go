package v1_test

import (
	"strings"
	"testing"
)

func TestTheAnswersToAFailure(t *testing.T) {
	const task = "spec.onFailure.afterTask needs spec.onFailure.action Return: set that, or leave afterTask out"
	for spec, message := range map[string]string{
		"{}": "", "{action: Keep}": "", "{action: Return}": "", "{action: Return, afterTask: true}": "", "{afterTask: false}": "",
		"{action: return}": "spec.onFailure.action", "{afterTask: true}": task, "{action: Keep, afterTask: true}": task,
	} {
		t.Run(spec, func(t *testing.T) {
			_, dropped, err := newAdmission(t).admit(t, named(t, "web", "{image: a, onFailure: "+spec+"}"))
			if len(dropped) > 0 || (err == nil) != (message == "") || err != nil && !strings.Contains(err.Error(), message) {
				t.Errorf("dropped fields %v, error %v, want %q", dropped, err, message)
			}
		})
	}
}
