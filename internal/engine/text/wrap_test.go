package text

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTextsAreWrappedBetweenWords(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		width int
		want  []string
	}{
		"one that fits":            {"the pods start", 14, []string{"the pods start"}},
		"one that does not":        {"the pods start now", 14, []string{"the pods start", "now"}},
		"without a width":          {"the pods start now", 0, []string{"the pods start now"}},
		"a word that is longer":    {"see registry.example.com/shop:1.0.1 now", 10, []string{"see", "registry.example.com/shop:1.0.1", "now"}},
		"characters, not bytes":    {"äöü äöü äöü", 7, []string{"äöü äöü", "äöü"}},
		"a command":                {"see it: kubectl logs web -c app; then go", 12, []string{"see it:", "kubectl logs web -c app;", "then go"}},
		"a command in parentheses": {"use one (kubectl get sc), or leave it", 20, []string{"use one", "(kubectl get sc), or", "leave it"}},
		"lines of its own":         {"a b\nc", 2, []string{"a", "b", "c"}},
		"nothing":                  {"", 10, []string{""}},
	} {
		t.Run(name, func(t *testing.T) { assert.Equal(t, test.want, Wrap(test.text, test.width)) })
	}
}
