package lint

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// printed returns the findings of all rules' charts in a format.
func printed(t *testing.T, format string) string {
	t.Helper()
	var all Report
	all.Dir = "charts/web"
	for _, rule := range Rules {
		all.Findings = append(all.Findings, checked(t, "testdata/chart", "testdata/rules/"+rule.ID+"/breaks")...)
	}
	var out bytes.Buffer
	require.NoError(t, Print(&out, format, []Report{all, {Dir: "charts/sound"}}))
	return out.String()
}

func TestFormats(t *testing.T) {
	for format, part := range map[string]string{
		"text": "charts/web/templates/configmap.yaml:6:16: uses randAlphaNum: random, so each render differs [random-or-time]\n    5 | data:\n",
		"github": "::error file=charts/web/templates/configmap.yaml,line=6,col=16,title=random-or-time::uses randAlphaNum: " +
			"random, so each render differs; have the operator make a value once: annotate its Secret with app.example.com/generate: \"KEY=32\", and leave the key out\n",
		"json": `"rule": "random-or-time"`,
	} {
		if got := printed(t, format); !strings.Contains(got, part) {
			t.Errorf("%s lacks %q:\n%s", format, part, got)
		}
	}
	var read struct {
		Findings []struct{ Rule, File, Help string }
	}
	if err := json.Unmarshal([]byte(printed(t, "json")), &read); err != nil || len(read.Findings) < len(Rules) {
		t.Errorf("got %d findings, error %v", len(read.Findings), err)
	}
	if err := Print(&bytes.Buffer{}, "xml", nil); err == nil || err.Error() != "-o xml: it can be text, json, github" {
		t.Errorf("got %v", err)
	}
}

func TestExceptions(t *testing.T) {
	for name, text := range map[string]string{
		"no such rule": "- {rule: nothing, about: a, reason: b}\n",
		"no reason":    "- {rule: fixed-name, about: a}\n",
		"no such key":  "- {rule: fixed-name, about: a, reason: b, file: c}\n",
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(dir+"/"+ExceptionsFile, []byte(text), 0o600))
			if _, err := Check(t.Context(), Subject{Files: os.DirFS(dir), Dir: "."}); err == nil || !strings.HasPrefix(err.Error(), ExceptionsFile+": ") {
				t.Errorf("got %v", err)
			}
		})
	}
}
