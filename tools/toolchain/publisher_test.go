package toolchain

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// helloURL and archiveURL are where the publisher of these tests has its programs, as a mirror sees it.
var (
	helloURL   = "/dl.k8s.io/release/v1.2.3/bin/linux/" + runtime.GOARCH + "/hello"
	folder     = "prometheus-3.15.0.linux-" + runtime.GOARCH
	archiveURL = "/github.com/prometheus/prometheus/releases/download/v3.15.0/" + folder + ".tar.gz"
)

// publisher answers as the publishers of programs do, and counts what it is asked for.
type publisher struct {
	*httptest.Server
	mutex sync.Mutex
	files map[string]http.HandlerFunc
	asked map[string]int
}

// publish starts a publisher, which has hello and its checksum.
func publish(t *testing.T) *publisher {
	t.Helper()
	p := &publisher{files: map[string]http.HandlerFunc{}, asked: map[string]int{}}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	p.files[helloURL] = file("official hello")
	p.files[helloURL+".sha256"] = file(sumOf("official hello"))
	return p
}

func (p *publisher) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mutex.Lock()
	p.asked[r.URL.Path]++
	answer := p.files[r.URL.Path]
	p.mutex.Unlock()
	if answer == nil {
		http.NotFound(w, r)
		return
	}
	answer(w, r)
}

func (p *publisher) requests(path string) int {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.asked[path]
}

// file answers with a file as it is.
func file(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(content)) }
}

// cutOff answers with the beginning of a file and ends the connection.
func cutOff(content string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(len(content)))
		_, _ = w.Write([]byte(content[:len(content)/2]))
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
}

// stuck answers with the beginning of a file and then nothing, for as long as the client waits. It calls begun, if it is
// set, when the beginning is under way.
func stuck(content string, begun func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(content[:len(content)/2]))
		w.(http.Flusher).Flush()
		if begun != nil {
			begun()
		}
		<-r.Context().Done()
	}
}

func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}

// archive returns a .tar.gz of files, given by their names and contents in turn.
func archive(t *testing.T, files ...string) string {
	t.Helper()
	var packed bytes.Buffer
	zipper := gzip.NewWriter(&packed)
	writer := tar.NewWriter(zipper)
	for i := 0; i < len(files); i += 2 {
		header := &tar.Header{Name: files[i], Mode: 0o755, Size: int64(len(files[i+1]))}
		require.NoError(t, writer.WriteHeader(header))
		if _, err := writer.Write([]byte(files[i+1])); err != nil {
			t.Fatal(err)
		}
	}
	require.NoError(t, writer.Close())
	require.NoError(t, zipper.Close())
	return packed.String()
}

// published returns a workshop whose one program is published as well.
func published(t *testing.T, mirror string) (workshop, program, *lockedBuffer) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("publishers offer servers for Linux only")
	}
	w, hello := tinyWorkshop(t)
	output := &lockedBuffer{}
	hello.official = kubernetesOffer("hello")
	w.progress, w.known = output, []program{hello}
	w.source = &downloader{mirror: mirror, reach: time.Minute, span: time.Minute}
	return w, hello, output
}

// content returns the content of a file, or nothing if there is none.
func content(t *testing.T, path string) string {
	t.Helper()
	read, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(read)
}

// isBuilt reports whether a program is the one that tinyWorkshop builds.
func isBuilt(t *testing.T, path string) bool {
	t.Helper()
	return strings.HasPrefix(content(t, path), "\x7fELF")
}
