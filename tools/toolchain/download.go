package toolchain

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

const (
	// reach is how long a host may take to answer at all, so that a machine without a network does not wait.
	reach = 2 * time.Second
	// span and least say how slow a download may become: slower, and building is faster.
	span  = 10 * time.Second
	least = 2 << 20
)

// downloader fetches programs from those who publish them, or from a mirror.
type downloader struct {
	mirror string // URL of a mirror, if there is one: it has each file below the name of the file's host
	reach  time.Duration
	span   time.Duration
}

// downloads returns the downloader that APPSERVICE_MIRROR requests, or nil if nothing may be downloaded.
func downloads() (*downloader, error) {
	d := &downloader{reach: reach, span: span}
	switch value := os.Getenv("APPSERVICE_MIRROR"); {
	case value == "off":
		return nil, nil
	case value != "":
		if at, err := url.Parse(value); err != nil || at.Host == "" || (at.Scheme != "https" && at.Scheme != "http") {
			return nil, fmt.Errorf("cannot use APPSERVICE_MIRROR=%s: set it to the URL of a mirror, or to off", value)
		}
		d.mirror = strings.TrimSuffix(value, "/")
	}
	return d, nil
}

// locate returns the address of a file: at its publisher, or at the mirror.
func (d *downloader) locate(address string) string {
	if d.mirror == "" {
		return address
	}
	return d.mirror + "/" + strings.TrimPrefix(address, "https://")
}

// unusable is a host that does not answer, or too slowly, as an error.
type unusable struct {
	host string
	error
}

// download downloads programs as far as it can, and says why it cannot. Only the end of the context is an error.
func (w workshop) download(ctx context.Context, missing []place) error {
	down := map[string]bool{}
	for _, p := range missing {
		if w.source == nil || p.downloaded == "" || exists(p.downloaded) ||
			down[w.source.host(p.offer.url)] || down[w.source.host(p.offer.sums)] {
			continue
		}
		err := w.downloadOne(ctx, p)
		var host unusable
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &host): // once for all that it has
			down[host.host] = true
			w.report("cannot download from %s (%v): what is missing from there is built from source", host.host, host.error)
		case err != nil:
			w.report("cannot download %s, so it is built from source: %v", p.name, err)
		}
	}
	return ctx.Err()
}

// host returns the host that has a file.
func (d *downloader) host(address string) string {
	at, _ := url.Parse(d.locate(address)) // it is one of ours, below a mirror that is a URL
	return at.Host
}

// downloadOne downloads a program, and with it all others that the same archive has.
func (w workshop) downloadOne(ctx context.Context, p place) error {
	folder := filepath.Dir(p.downloaded)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	places := map[string]string{p.offer.member: p.downloaded}
	for _, other := range w.known {
		if other.module == p.module && other.official != nil {
			if o := other.official(p.pin.version, runtime.GOARCH); o.url == p.offer.url {
				places[o.member] = filepath.Join(folder, other.name)
			}
		}
	}
	w.report("downloading %s (%s) %s from %s ...", p.name, p.use, p.offer.version, w.source.locate(p.offer.url))
	start := time.Now()
	if err := w.source.fetch(ctx, p.offer, places); err != nil {
		return err
	}
	w.report("downloaded %s in %s", p.name, time.Since(start).Round(100*time.Millisecond))
	return nil
}

// fetch downloads what an offer names, verifies it, and puts the programs in it into their places: one place by the
// path in the archive, or under no name if the offer is not an archive. A place gets a whole program or is left as it
// is.
func (d *downloader) fetch(ctx context.Context, o offer, places map[string]string) error {
	var document bytes.Buffer
	err := d.get(ctx, o.sums, &document)
	var want string
	if err == nil {
		want, err = checksum(document.Bytes(), path.Base(o.url))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.locate(o.sums), err)
	}
	// One process downloads at a time, so the file of an earlier one that was killed may be overwritten.
	partial, err := os.Create(filepath.Join(filepath.Dir(places[o.member]), path.Base(o.url)+".partial"))
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial.Name()) }()
	defer partial.Close()
	hash := sha256.New()
	if err := d.get(ctx, o.url, io.MultiWriter(partial, hash)); err != nil {
		return fmt.Errorf("%s: %w", d.locate(o.url), err)
	}
	if got := hex.EncodeToString(hash.Sum(nil)); got != want {
		return fmt.Errorf("%s: its SHA-256 is %s, and %s is published", d.locate(o.url), got, want)
	}
	if _, err := partial.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if o.member == "" {
		return install(partial, places[""])
	}
	return unpack(partial, places)
}

// get copies the content of a URL, and aborts if nothing comes in time, or as soon as a span of time brings too little.
func (d *downloader) get(ctx context.Context, address string, to io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(d.reach, func() { cancel(fmt.Errorf("no answer within %s", d.reach)) })
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.locate(address), http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if silence.Reset(d.reach); len(via) > 5 { // another host gets time of its own
			return errors.New("it is redirected again and again")
		}
		return nil
	}}
	response, err := client.Do(request)
	silence.Stop()
	if err != nil {
		return unusable{d.host(address), because(ctx, err)}
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	var brought atomic.Int64
	go func() {
		ticker := time.NewTicker(d.span)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if brought.Swap(0) < least {
					cancel(unusable{d.host(address), errors.New("it is too slow")})
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	_, err = io.Copy(to, io.TeeReader(response.Body, counter{&brought}))
	return because(ctx, err)
}

// counter counts the bytes that are written to it.
type counter struct{ sum *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.sum.Add(int64(len(p)))
	return len(p), nil
}

// because returns why a request failed, without the names that the HTTP client puts before it: the context's reason if
// that has ended.
func because(ctx context.Context, err error) error {
	var name *net.DNSError
	var operation *net.OpError
	var wrapped *url.Error
	switch {
	case err != nil && ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.As(err, &name):
		return errors.New(name.Err)
	case errors.As(err, &operation):
		return operation.Err
	case errors.As(err, &wrapped):
		return wrapped.Err
	}
	return err
}

// unpack takes the programs out of an archive.
func unpack(archive io.Reader, places map[string]string) error {
	plain, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("cannot unpack it: %w", err)
	}
	found := 0
	for files := tar.NewReader(plain); found < len(places); {
		header, err := files.Next()
		if err != nil {
			return fmt.Errorf("cannot unpack it: %d of %d programs are in it: %w", found, len(places), err)
		}
		if place, ok := places[path.Clean(header.Name)]; ok {
			if err := install(files, place); err != nil {
				return err
			}
			found++
		}
	}
	return nil
}

// install writes a program, which appears in its place once it is whole.
func install(content io.Reader, place string) error {
	partial, err := os.OpenFile(place+".new", os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(partial.Name()) }()
	_, err = io.Copy(partial, content)
	if err := errors.Join(err, partial.Close()); err != nil {
		return err
	}
	return os.Rename(partial.Name(), place)
}
