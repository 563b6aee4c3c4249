package toolchain

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"sync"
)

// hosts returns the hosts that an offer needs, as the beginnings of URLs.
func (d *downloader) hosts(o offer) []string {
	var hosts []string
	for _, address := range []string{o.url, o.sums} {
		if at, err := url.Parse(d.locate(address)); err == nil {
			hosts = append(hosts, at.Scheme+"://"+at.Host)
		}
	}
	return hosts
}

// unreachable asks all hosts that offers need, at the same time, and returns those that do not answer, with the reason.
func (d *downloader) unreachable(ctx context.Context, offers []offer) map[string]error {
	ctx, cancel := context.WithTimeout(ctx, d.reach)
	defer cancel()
	answers := map[string]error{}
	for _, o := range offers {
		for _, host := range d.hosts(o) {
			answers[host] = nil
		}
	}
	var mutex sync.Mutex
	var group sync.WaitGroup
	down := map[string]error{}
	for host := range answers {
		group.Go(func() {
			if err := d.answers(ctx, host); err != nil {
				mutex.Lock()
				defer mutex.Unlock()
				down[host] = err
			}
		})
	}
	group.Wait()
	return down
}

// answers returns an error unless a host answers something.
func (d *downloader) answers(ctx context.Context, host string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, host+"/", http.NoBody)
	if err != nil {
		return err
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("no answer within %s", d.reach)
		}
		return cause(err)
	}
	return response.Body.Close()
}
