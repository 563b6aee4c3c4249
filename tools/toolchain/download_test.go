package toolchain

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDownload(t *testing.T) {
	p := publish(t)
	w, hello, output := published(t, p.URL)
	programs, err := w.ensure(t.Context(), []program{hello})
	require.NoError(t, err)
	if got := content(t, programs["hello"]); got != "official hello" {
		t.Errorf("got a program %q, want the published one:\n%s", got, output.String())
	}
	if info, err := os.Stat(programs["hello"]); err != nil || info.Mode().Perm()&0o111 == 0 {
		t.Errorf("got file %v (error %v), want an executable", info, err)
	}
	if want := "downloading hello (a greeting) v1.2.3 from " + p.URL + helloURL; !strings.Contains(output.String(), want) {
		t.Errorf("got output %q, want %q", output.String(), want)
	}
	p.Close()
	output.Reset()
	again, err := w.ensure(t.Context(), []program{hello})
	if err != nil || again["hello"] != programs["hello"] || output.String() != "" {
		t.Errorf("got %v, output %q and error %v, want what was downloaded before and no word", again, output.String(), err)
	}
	w.source = nil
	if off, err := w.ensure(t.Context(), []program{hello}); err != nil || !isBuilt(t, off["hello"]) {
		t.Errorf("got %v (error %v), want a built program where none is to be downloaded", off, err)
	}
}

func TestDownloadOfAnArchive(t *testing.T) {
	p := publish(t)
	w, hello, output := published(t, p.URL)
	packed := archive(t, folder+"/LICENSE", "text", folder+"/hello", "official hello", folder+"/sibling", "official sibling")
	p.files[archiveURL] = file(packed)
	p.files[filepath.Dir(archiveURL)+"/sha256sums.txt"] = file(
		sumOf("other") + "  other.tar.gz\n" + sumOf(packed) + "  " + folder + ".tar.gz\n")
	hello.official = prometheusOffer("hello")
	sibling := hello
	sibling.name, sibling.official = "sibling", prometheusOffer("sibling")
	w.known = []program{hello, sibling}
	// The version of Prometheus's module.
	write(t, filepath.Join(w.pins, "hello", "go.mod"),
		strings.ReplaceAll(content(t, filepath.Join(w.pins, "hello", "go.mod")), "v1.2.3", "v0.315.0"))
	programs, err := w.ensure(t.Context(), w.known)
	for _, want := range w.known {
		if got := content(t, programs[want.name]); err != nil || got != "official "+want.name {
			t.Errorf("got program %q (error %v), want the published %s:\n%s", got, err, want.name, output.String())
		}
	}
	if n := p.requests(archiveURL); n != 1 {
		t.Errorf("the archive was downloaded %d times, want once", n)
	}
}

// TestDownloadFaults shows that a program is built whatever goes wrong with its download, and that one line says why.
func TestDownloadFaults(t *testing.T) {
	const hello = "official hello"
	cases := map[string]struct {
		change func(*publisher, *workshop)
		why    string
	}{
		"no program": {func(p *publisher, _ *workshop) { delete(p.files, helloURL) }, "404 Not Found"},
		"no checksum": {func(p *publisher, _ *workshop) { delete(p.files, helloURL+".sha256") },
			".sha256: 404 Not Found"},
		"another checksum": {func(p *publisher, _ *workshop) { p.files[helloURL+".sha256"] = file(sumOf("another")) },
			sumOf(hello) + ", and " + sumOf("another") + " is published"},
		"something that is not a checksum": {func(p *publisher, _ *workshop) { p.files[helloURL+".sha256"] = file("<html>") },
			`"<html>" is not a SHA-256`},
		"a page in the place of the program": {func(p *publisher, _ *workshop) { p.files[helloURL] = file("<html>") },
			"its SHA-256 is " + sumOf("<html>")},
		"a body that is cut off": {func(p *publisher, _ *workshop) { p.files[helloURL] = cutOff(hello) }, "unexpected EOF"},
		"a body that does not go on": {func(p *publisher, w *workshop) {
			p.files[helloURL], w.source.span = stuck(hello, nil), 50*time.Millisecond
		}, "it is too slow"},
		"a host that nobody listens on":   {func(p *publisher, _ *workshop) { p.Close() }, "connection refused): what is missing"},
		"a host that says nothing at all": {func(_ *publisher, w *workshop) { w.source.mirror = mute(t) }, "no answer within"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			p := publish(t)
			w, program, output := published(t, p.URL)
			tc.change(p, &w)
			if strings.HasPrefix(tc.why, "no answer") {
				w.source.reach = 50 * time.Millisecond
			}
			checkBuilt(t, w, program, output, tc.why)
		})
	}
}

// checkBuilt checks that a program is built, that one line says why, and that nothing else is in the cache.
func checkBuilt(t *testing.T, w workshop, hello program, output *lockedBuffer, why string) {
	t.Helper()
	programs, err := w.ensure(t.Context(), []program{hello})
	if err != nil || !isBuilt(t, programs["hello"]) {
		t.Errorf("got %v (error %v), want a built program", programs, err)
	}
	lines := 0
	for line := range strings.Lines(output.String()) {
		if strings.HasPrefix(line, "cannot ") && strings.Contains(line, why) && strings.Contains(line, "built from source") {
			lines++
		}
	}
	if lines != 1 {
		t.Errorf("got %d lines with %q, want one:\n%s", lines, why, output.String())
	}
	files, err := filepath.Glob(filepath.Join(w.cache, "hello-*", "*"))
	if err != nil || len(files) != 1 || files[0] != programs["hello"] {
		t.Errorf("got files %v (error %v), want the program alone", files, err)
	}
}

func TestASlowHostIsNotAskedAgain(t *testing.T) {
	p := publish(t)
	w, hello, output := published(t, p.URL)
	write(t, filepath.Join(w.pins, "hello", "sibling", "main.go"), "package main\n\nfunc main() {}\n")
	sibling := hello
	sibling.name, sibling.path, sibling.official = "sibling", "example.com/tools/sibling", kubernetesOffer("sibling")
	w.source.span = 50 * time.Millisecond
	p.files[helloURL] = stuck("official hello", nil)
	programs, err := w.ensure(t.Context(), []program{hello, sibling})
	if err != nil || !isBuilt(t, programs["hello"]) || !isBuilt(t, programs["sibling"]) {
		t.Errorf("got %v (error %v), want two built programs:\n%s", programs, err, output.String())
	}
	if n := p.requests(strings.Replace(helloURL, "hello", "sibling", 1) + ".sha256"); n != 0 {
		t.Errorf("the slow host was asked for the second program %d times", n)
	}
}

func TestAnInterruptedDownloadStartsAgain(t *testing.T) {
	p := publish(t)
	w, hello, output := published(t, p.URL)
	ctx, cancel := context.WithCancel(t.Context())
	whole := p.files[helloURL]
	p.files[helloURL] = stuck("official hello", cancel)
	if _, err := w.ensure(ctx, []program{hello}); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want that of the context", err)
	}
	if files, err := filepath.Glob(filepath.Join(w.cache, "hello-*", "*")); err != nil || len(files) > 0 {
		t.Errorf("got files %v (error %v) after an interruption, want none", files, err)
	}
	if strings.Contains(output.String(), "built from source") {
		t.Errorf("an interruption was taken for a fault of the download:\n%s", output.String())
	}
	// A process that was killed leaves what it had.
	folders, err := filepath.Glob(filepath.Join(w.cache, "hello-*"))
	if err != nil || len(folders) != 1 {
		t.Fatalf("got folders %v (error %v), want one", folders, err)
	}
	write(t, filepath.Join(folders[0], "hello.partial"), "a longer text than that of the official hello")
	p.files[helloURL] = whole
	programs, err := w.ensure(t.Context(), []program{hello})
	if got := content(t, programs["hello"]); err != nil || got != "official hello" {
		t.Errorf("got program %q (error %v), want the published one", got, err)
	}
}

func TestMirror(t *testing.T) {
	cases := map[string]struct {
		value, want, wantErr string
	}{
		"unset":                   {"", "https://dl.k8s.io/release/v1/a", ""},
		"a mirror":                {"https://mirror.example.com/files/", "https://mirror.example.com/files/dl.k8s.io/release/v1/a", ""},
		"a folder":                {"/srv/mirror", "", "cannot use APPSERVICE_MIRROR=/srv/mirror: set it to the URL of a mirror, or to off"},
		"a host without a scheme": {"mirror.example.com", "", "cannot use APPSERVICE_MIRROR=mirror.example.com"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Setenv("APPSERVICE_MIRROR", tc.value)
			d, err := downloads()
			if (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Fatalf("got error %v, want %q", err, tc.wantErr)
			}
			if err == nil && d.locate("https://dl.k8s.io/release/v1/a") != tc.want {
				t.Errorf("got %s, want %s", d.locate("https://dl.k8s.io/release/v1/a"), tc.want)
			}
		})
	}
	t.Setenv("APPSERVICE_MIRROR", "off")
	if d, err := downloads(); d != nil || err != nil {
		t.Errorf("got %v (error %v), want no downloads", d, err)
	}
}

// mute returns the URL of a host that takes connections and never answers.
func mute(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	return "http://" + listener.Addr().String()
}
