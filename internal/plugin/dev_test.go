package plugin

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// screen collects what a command prints while it runs.
type screen struct {
	mu      sync.Mutex
	text    strings.Builder
	printed chan struct{}
}

func (s *screen) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case s.printed <- struct{}{}:
	default: // the previous signal is still pending
	}
	return s.text.Write(data)
}

func (s *screen) read() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// shows waits until the screen contains a text.
func (s *screen) shows(t *testing.T, want string) {
	t.Helper()
	late := time.After(time.Minute)
	for !strings.Contains(s.read(), want) {
		select {
		case <-s.printed:
		case <-late:
			t.Fatalf("%q does not come:\n%s", want, s.read())
		}
	}
}

func TestDev(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		half := filepath.Join(dir, "half") // renamed when complete: the watcher must not read half a file
		require.NoError(t, os.WriteFile(half, []byte(text), 0o600))
		require.NoError(t, os.Rename(half, path))
	}
	const template = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: {{ .Release.Name }}, labels: {release: one, image: {{ .Values.image | quote }}}}\n"
	write("chart/Chart.yaml", "apiVersion: v2\nname: appservice\nversion: 9.9.9\n")
	write("chart/values.yaml", "{}\n")
	write("chart/templates/file.yaml", template)
	write("app.yaml", anApp)

	ctx, interrupt := context.WithCancel(t.Context())
	out := &screen{printed: make(chan struct{}, 1)}
	ended := make(chan int, 1)
	go func() {
		streams := genericiooptions.IOStreams{In: strings.NewReader(""), Out: out, ErrOut: out}
		ended <- Run(ctx, []string{"dev", "--kubeconfig=/nonexistent", "--chart-dir", filepath.Join(dir, "chart"), "-f", filepath.Join(dir, "app.yaml")}, streams)
	}()
	out.shows(t, "AppService shop/web becomes ConfigMap web\n")
	write("chart/templates/file.yaml", strings.Replace(template, "one", "two", 1))
	out.shows(t, "      metadata.labels.release one → two\n")
	write("app.yaml", strings.Replace(anApp, "1.29", "1.30", 1))
	out.shows(t, "      metadata.labels.image nginx:1.29 → nginx:1.30\n")
	write("chart/templates/file.yaml", template+"a: {{ .Values.image.tag.name }}\n")
	out.shows(t, "templates/file.yaml:4:14: <.Values.image.tag.name>")
	out.shows(t, "    4 | a: {{ .Values.image.tag.name }}\n      |              ^")
	write("chart/templates/file.yaml", "a: {{ if }}\n")
	out.shows(t, "templates/file.yaml:1")
	write("chart/templates/file.yaml", strings.Replace(template, "one", "three", 1))
	out.shows(t, "      metadata.labels.release two → three\n")
	interrupt()
	if code := <-ended; code != 0 {
		t.Errorf("it ends with %d", code)
	}
}
