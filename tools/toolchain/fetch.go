package toolchain

import (
	"bytes"
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

// errSlow is why a download that was too slow was aborted.
var errSlow = errors.New("it is too slow")

// downloader fetches programs from those who publish them, or from a mirror.
type downloader struct {
	mirror string // URL of a mirror, if there is one: it has each file below the name of the file's host
	reach  time.Duration
	span   time.Duration
}

// downloads returns the downloader that APPSERVICE_MIRROR asks for, or nil if nothing is to be downloaded.
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

// locate returns where a file is to be had: from its publisher, or from the mirror.
func (d *downloader) locate(address string) string {
	if d.mirror == "" {
		return address
	}
	return d.mirror + "/" + strings.TrimPrefix(address, "https://")
}

// fetch downloads what an offer names, verifies it, and puts the programs in it into their places: one place by the path
// in the archive, or under no name if the offer is not an archive. A place gets a whole program or is left as it is.
func (d *downloader) fetch(ctx context.Context, o offer, places map[string]string) error {
	var document bytes.Buffer
	if err := d.get(ctx, o.sums, &document); err != nil {
		return fmt.Errorf("%s: %w", d.locate(o.sums), err)
	}
	want, err := checksum(document.Bytes(), path.Base(o.url))
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
	if o.member != "" {
		return unpack(partial, places)
	}
	if err := errors.Join(partial.Chmod(0o755), partial.Close()); err != nil {
		return err
	}
	return os.Rename(partial.Name(), places[o.member])
}

// get copies the content of a URL, and aborts as soon as a span of time brings too little.
func (d *downloader) get(ctx context.Context, address string, to io.Writer) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var brought atomic.Int64
	go func() {
		ticker := time.NewTicker(d.span)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				if brought.Swap(0) < least {
					cancel(errSlow)
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.locate(address), http.NoBody)
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return becauseOf(ctx, err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	_, err = io.Copy(to, io.TeeReader(response.Body, counter{&brought}))
	return becauseOf(ctx, err)
}

// counter counts what is written to it.
type counter struct{ sum *atomic.Int64 }

func (c counter) Write(p []byte) (int, error) {
	c.sum.Add(int64(len(p)))
	return len(p), nil
}

// becauseOf returns why a request failed: the context's reason if it has ended.
func becauseOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return cause(err)
}

// cause returns what went wrong, without the names that an error of the HTTP client puts before it.
func cause(err error) error {
	var name *net.DNSError
	if errors.As(err, &name) {
		return errors.New(name.Err)
	}
	var operation *net.OpError
	if errors.As(err, &operation) {
		return operation.Err
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}
