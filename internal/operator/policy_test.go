package operator

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/example/appservice-operator/internal/operator/metrics"
	"github.com/example/appservice-operator/internal/operator/policy"
)

// write makes a file of a policy, or takes it away if there is no text.
func write(t *testing.T, file, text string) {
	t.Helper()
	if text == "" {
		require.NoError(t, os.Remove(file))
		return
	}
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
}

func TestASoundPolicyIsPutToUseAndABrokenOneIsNot(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	p, err := newPolicy(file, metrics.New())
	require.NoError(t, err)
	asked := 0
	p.changed = func(context.Context) { asked++ }
	for _, step := range []struct {
		text     string
		asked    int
		replicas int64
		refused  bool
	}{
		{"default: {maxReplicas: 5}", 1, 5, false},
		{"default: {maxReplicas: 5}", 1, 5, false},
		{"default: {maxReplica: 6}", 1, 5, true},
		{"default: {maxReplicas: 5}", 1, 5, false},
		{"default: {maxReplicas: 7}", 2, 7, false},
		{"", 2, 7, true},
		{"default: {maxReplicas: 7}", 2, 7, false},
		{"default: {maxReplicas: 8}", 3, 8, false},
		{"builtIn: open", 4, 2147483647, false},
		{"", 4, 2147483647, true},
		{"builtIn: shared", 5, 100, false},
	} {
		write(t, file, step.text)
		p.load(t.Context())
		if got := *p.current.Get().For("demo", nil).MaxReplicas; got != step.replicas || asked != step.asked || p.told != "" != step.refused {
			t.Errorf("%q: %d replicas, asked %d times, told %q", step.text, got, asked, p.told)
		}
	}
}

// Until there is a file, the built-in policy is in use, and nothing is wrong.
func TestAPolicyThatIsCreatedLaterIsPutToUse(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	p, err := newPolicy(file, metrics.New())
	require.NoError(t, err)
	p.changed = func(context.Context) {}
	p.load(t.Context())
	if source := p.current.Get().Source; source != policy.NoFile || p.told != "" {
		t.Errorf("without a file, %s is in use, told %q", source, p.told)
	}
	write(t, file, "default: {maxReplicas: 5}")
	p.load(t.Context())
	write(t, file, "")
	p.load(t.Context())
	if got := p.current.Get().Source; got != file || !strings.Contains(p.told, "is gone") {
		t.Errorf("without the file that was in use, %s is in use, told %q", got, p.told)
	}
}

func TestAPolicyAtTheStart(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.yaml")
	write(t, bad, "default:\n  maxReplica: 5\n")
	none := filepath.Join(dir, "none.yaml")
	write(t, none, "builtIn: closed\n")
	for name, test := range map[string]struct{ file, source, err string }{
		"none":                           {"", policy.NoFile, ""},
		"one that is not there yet":      {filepath.Join(dir, "policy.yaml"), policy.NoFile, ""},
		"a folder that is not there":     {filepath.Join(dir, "absent", "policy.yaml"), "", "correct --policy"},
		"a folder":                       {dir, "", "cannot read the policy"},
		"one with a rule that is none":   {bad, "", "bad.yaml:2: default.maxReplica is not known: did you mean maxReplicas?"},
		"one of no built-in policy":      {none, "", "none.yaml:1: builtIn: must be a built-in policy, open or shared, not \"closed\""},
		"the worked one for the tenants": {"../../config/samples/tenant/policy.yaml", "../../config/samples/tenant/policy.yaml", ""},
	} {
		t.Run(name, func(t *testing.T) {
			options := byDefault()
			options.Policy = test.file
			_, err := CheckFiles(options, nil)
			if (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Fatalf("got error %v, want %q", err, test.err)
			}
			if p, _ := newPolicy(test.file, metrics.New()); test.err == "" && (p.current.Get().Source != test.source || p.current.Get().BuiltIn != policy.Shared) {
				t.Errorf("got %s over %s, want %s", p.current.Get().Source, p.current.Get().BuiltIn, test.source)
			}
		})
	}
}
