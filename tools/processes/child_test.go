package processes

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStop(t *testing.T) {
	cases := map[string]struct {
		script string
		grace  time.Duration
		err    string
	}{
		"one that ends well":               {`trap 'exit 0' TERM; echo; while :; do sleep 0.01; done`, time.Minute, ""},
		"one that fails at the end":        {`trap 'exit 3' TERM; echo; while :; do sleep 0.01; done`, time.Minute, "exit status 3"},
		"one that does not listen":         {`trap '' TERM; echo; while :; do sleep 0.01; done`, time.Second, "sh was killed: it had not ended within 1s of SIGTERM"},
		"one that has ended by itself":     {`exit 0`, time.Minute, ""},
		"one that has failed by itself":    {`exit 4`, time.Minute, "exit status 4"},
		"one that the signal ends at once": {`echo; exec sleep 60`, time.Minute, "signal: terminated"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.Command("sh", "-c", test.script)
			output, err := command.StdoutPipe()
			require.NoError(t, err)
			child, err := Start(command)
			require.NoError(t, err)
			t.Cleanup(child.Kill)
			_, _ = output.Read(make([]byte, 1)) // it is under way, or has ended
			if err := child.Stop(test.grace); (err == nil) != (test.err == "") || err != nil && err.Error() != test.err {
				t.Errorf("got the error %v, want %q", err, test.err)
			}
			select {
			case <-child.Ended():
			default:
				t.Error("it has not ended")
			}
		})
	}
}

func TestStartNamesWhatCannotBeStarted(t *testing.T) {
	if _, err := Start(exec.Command("/nowhere/manager")); err == nil || !strings.HasPrefix(err.Error(), "cannot start manager: ") {
		t.Errorf("got the error %v", err)
	}
}

func TestFreeAddressesAreDifferent(t *testing.T) {
	addresses, err := FreeAddresses(3)
	require.NoError(t, err)
	if slices.Sort(addresses); len(slices.Compact(addresses)) != 3 {
		t.Errorf("got %v", addresses)
	}
}

func TestPlain(t *testing.T) {
	cases := map[string]struct{ line, want string }{
		"an error of kwokctl":   {`{"level":"ERROR","msg":"Execute exit","err":"no port"}`, "no port"},
		"a message of kwokctl":  {`{"level":"INFO","msg":"Cluster is starting"}`, "Cluster is starting"},
		"a complaint of others": {"error: not found", "error: not found"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := plain(tc.line); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
