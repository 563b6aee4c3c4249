package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// A tag can be moved, a commit cannot.
var pinned = regexp.MustCompile(`^[\w-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

func TestWorkflowsNameActionsByCommit(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got the workflows %v and error %v", files, err)
	}
	commits := map[string]string{}
	for _, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		if permissions := "\npermissions:"; !strings.Contains(string(content), permissions) {
			t.Errorf("%s leaves it open what its token may do", file)
		}
		for _, line := range strings.Split(string(content), "\n") {
			_, action, uses := strings.Cut(line, "uses: ")
			if !uses {
				continue
			}
			assert.True(t, pinned.MatchString(action), "%s: %s is not named by commit and version", file, action)
			name, commit, _ := strings.Cut(action, "@")
			if other := commits[name]; other != "" && other != commit {
				t.Errorf("%s: %s is %s here and %s elsewhere", file, name, commit, other)
			}
			commits[name] = commit
		}
	}
}

// step is a step of a workflow. To see its effect, run it by make.
type step struct {
	Name string `json:"name"`
	Uses string `json:"uses"`
	Run  string `json:"run"`
}

// steps returns those of a workflow.
func steps(t *testing.T, file string) []step {
	t.Helper()
	var workflow struct {
		Jobs map[string]struct {
			Steps []step `json:"steps"`
		} `json:"jobs"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(text(t, file)), &workflow))
	var all []step
	for _, job := range workflow.Jobs {
		all = append(all, job.Steps...)
	}
	require.NotEmpty(t, all, "%s has no steps", file)
	return all
}

// Make targets of workflows work elsewhere, too, and docs/releasing.md says of each step whether it can.
func TestTheStepsOfWorkflowsAreDescribed(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(root, ".github/workflows/*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("got the workflows %v and error %v", files, err)
	}
	there := targets(t)
	_, described, found := strings.Cut(text(t, root+"/docs/releasing.md"), "\n## What the workflows run\n")
	require.True(t, found, "docs/releasing.md does not say what the workflows run")
	described, _, _ = strings.Cut(described, "\n## ")
	inMake := regexp.MustCompile(`(?m)^\s*make ([a-z][a-z0-9-]*)`)
	named := 0
	for _, file := range files {
		for _, step := range steps(t, file) {
			action, _, _ := strings.Cut(step.Uses, "@")
			if action != "" && !strings.Contains(described, "`"+action+"`") {
				t.Errorf("%s: docs/releasing.md does not say whether %s can run elsewhere", file, action)
			}
			called := inMake.FindAllStringSubmatch(step.Run, -1)
			for _, target := range called {
				named++
				assert.True(t, there(target[1]), "%s runs make %s, which the Makefile does not have", file, target[1])
				assert.Contains(t, described, "`make "+target[1], "%s: docs/releasing.md does not name make %s", file, target[1])
			}
			// A step without make is described by the first words of its first command.
			if words := strings.Fields(step.Run); len(called) == 0 && len(words) > 1 && !strings.Contains(described, "`"+words[0]+" "+words[1]) {
				t.Errorf("%s: docs/releasing.md does not say whether %q can run elsewhere", file, step.Run)
			}
		}
	}
	assert.NotZero(t, named, "no workflow runs make")
}
