package plugin

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/plugin/history"
)

// undoing runs undo for a change that names more than the present spec does, and returns what was printed before the write, and whether there was one.
func undoing(t *testing.T, in io.Reader, dry string, yes bool) (shown string, written bool, err error) {
	t.Helper()
	streams, _, stdout, stderr := genericiooptions.NewTestIOStreams()
	streams.In = in
	s := &cli{IOStreams: streams, color: colorNever}
	resource := kube.Object(appServices)
	resource.SetNamespace("shop")
	resource.SetName("web")
	writer := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
		Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
			shown, written = stderr.String()+stdout.String(), true
			return nil
		},
	}).Build()
	plan := &history.Undo{To: 7, Resource: resource, Changes: []string{"spec.image a → b"}, NewReferences: []string{`Secret "payments"`}}
	err = s.undo(t.Context(), writer, plan, taskRests, dry, yes)
	if !written {
		shown = stderr.String() + stdout.String()
	}
	return shown, written, err
}

func TestUndoShowsTheChangeAndAsksBeforeItWrites(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer  string // on a terminal; empty for a pipe
		dry     string
		yes     bool
		written bool
		err     error
	}{
		"a script":                      {"", dryNone, false, false, errUnconfirmed},
		"a script that answers":         {"", dryNone, true, true, nil},
		"a script that only looks":      {"", dryClient, false, false, nil},
		"a script that asks a server":   {"", dryServer, false, true, nil}, // which stores nothing
		"a user who agrees":             {"y\n", dryNone, false, true, nil},
		"a user who agrees in a word":   {"YES\n", dryNone, false, true, nil},
		"a user who does not":           {"n\n", dryNone, false, false, errDeclined},
		"a user who says nothing":       {"\n", dryNone, false, false, errDeclined},
		"a user who says so before":     {"n\n", dryNone, true, true, nil},
		"a user who says anything else": {"what?\n", dryNone, false, false, errDeclined},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in io.Reader = strings.NewReader("y\n")
			if test.answer != "" {
				in = typing(t, test.answer)
			}
			shown, written, err := undoing(t, in, test.dry, test.yes)
			if written != test.written || !errors.Is(err, test.err) {
				t.Errorf("written: %t, error: %v", written, err)
			}
			for _, words := range []string{"appservice/web goes back to revision 7:\n  spec.image a → b\n", `warning: the spec of revision 7 names what the present one does not: Secret "payments".`} {
				assert.Contains(t, shown, words)
			}
		})
	}
}

// typing is a terminal on which a user types an answer.
func typing(t *testing.T, answer string) *os.File {
	t.Helper()
	user, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminals: %v", err)
	}
	t.Cleanup(func() { _ = user.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(user.Fd()), unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(int(user.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	terminal, err := os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	_, err = user.WriteString(answer)
	require.NoError(t, err)
	return terminal
}
