package rollout

import (
	"cmp"
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// Halted returns why nobody in a namespace may begin; empty if that is not so.
func (r *Rollouts) Halted(namespace string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if of := r.lines[namespace]; of != nil {
		return cmp.Or(of.halted, r.halted)
	}
	return r.halted
}

// Allow requests to continue, whatever fails, with the chart named by a digest, or the beginning of one; "" requests
// nothing.
func (r *Rollouts) Allow(digest string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requested, r.allowed = digest, r.Chart().named(digest)
	r.reconsiderHalts()
	r.advance(types.NamespacedName{})
}

// shortest is how many characters of a digest are enough to name a chart.
const shortest = 8

// named reports whether a request names the chart: by its digest, or the beginning of one, and likewise that of its
// values.
func (c Chart) named(request string) bool {
	digest, values, _ := strings.Cut(request, "+")
	return begins(c.Digest, digest) && (values == "" && c.Values == "" || begins(c.Values, values))
}

// begins reports whether a digest begins with a text that is long enough to name it.
func begins(digest, text string) bool {
	return len(text) >= shortest && strings.HasPrefix(digest, text)
}
