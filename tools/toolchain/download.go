package toolchain

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// download downloads programs as far as it can, and says why it cannot. Only the end of the context is an error.
func (w workshop) download(ctx context.Context, missing []place) error {
	missing = slices.DeleteFunc(slices.Clone(missing), func(p place) bool { return p.downloaded == "" })
	if w.source == nil || len(missing) == 0 {
		return nil
	}
	var offers []offer
	for _, p := range missing {
		offers = append(offers, p.offer)
	}
	down := w.source.unreachable(ctx, offers)
	w.reportUnreachable(down)
	for _, p := range missing {
		if exists(p.downloaded) || slices.ContainsFunc(w.source.hosts(p.offer), func(host string) bool { return down[host] != nil }) {
			continue
		}
		err := w.downloadOne(ctx, p)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			w.report("cannot download %s, so it is built from source: %v", p.name, err)
		}
		if errors.Is(err, errSlow) {
			for _, host := range w.source.hosts(p.offer) {
				down[host] = err
			}
		}
	}
	return ctx.Err()
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

// reportUnreachable says in one line which hosts do not answer.
func (w workshop) reportUnreachable(down map[string]error) {
	hosts := slices.Sorted(maps.Keys(down))
	if len(hosts) == 0 {
		return
	}
	reason := down[hosts[0]]
	for i, host := range hosts {
		_, hosts[i], _ = strings.Cut(host, "://")
	}
	w.report("cannot reach %s (%v): what is missing from there is built from source", enumerate(hosts), reason)
}
