package packaging

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
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
		if err != nil {
			t.Fatal(err)
		}
		if permissions := "\npermissions:"; !strings.Contains(string(content), permissions) {
			t.Errorf("%s leaves it open what its token may do", file)
		}
		for _, line := range strings.Split(string(content), "\n") {
			_, action, uses := strings.Cut(line, "uses: ")
			if !uses {
				continue
			}
			if !pinned.MatchString(action) {
				t.Errorf("%s: %s is not named by commit and version", file, action)
			}
			name, commit, _ := strings.Cut(action, "@")
			if other := commits[name]; other != "" && other != commit {
				t.Errorf("%s: %s is %s here and %s elsewhere", file, name, commit, other)
			}
			commits[name] = commit
		}
	}
}
