package hosts

import (
	"iter"
	"slices"
	"strings"

	"github.com/google/btree"
)

// hostIndex finds candidates whose hosts overlap with that of a path, without looking at all of them. Hosts below a
// wildcard are a range of the sorted reversed hosts.
type hostIndex struct {
	buckets map[string]map[*candidate]struct{}
	hosts   *btree.BTreeG[string]
}

func newHostIndex() hostIndex {
	return hostIndex{map[string]map[*candidate]struct{}{}, btree.NewOrderedG[string](32)}
}

func (x hostIndex) add(c *candidate) {
	for _, path := range c.paths {
		bucket := path.bucket()
		if x.buckets[bucket] == nil {
			x.buckets[bucket] = map[*candidate]struct{}{}
			x.hosts.ReplaceOrInsert(backwards(bucket))
		}
		x.buckets[bucket][c] = struct{}{}
	}
}

func (x hostIndex) remove(c *candidate) {
	for _, path := range c.paths {
		bucket := path.bucket()
		if delete(x.buckets[bucket], c); len(x.buckets[bucket]) == 0 {
			delete(x.buckets, bucket)
			x.hosts.Delete(backwards(bucket))
		}
	}
}

// has reports whether a candidate is in the index.
func (x hostIndex) has(c *candidate) bool {
	return slices.ContainsFunc(c.paths, func(p RoutePath) bool { _, known := x.buckets[p.bucket()][c]; return known })
}

// rivals are the candidates of other resources that conflict with a path of a candidate.
func (x hostIndex) rivals(of *candidate, path RoutePath, rules Rules) iter.Seq[*candidate] {
	return func(yield func(*candidate) bool) {
		look := func(bucket string) bool {
			for other := range x.buckets[bucket] {
				if of.conflictsWith(path, other, rules) && !yield(other) {
					return false
				}
			}
			return true
		}
		if !look(path.bucket()) || path.Host == "" {
			return
		}
		for domain := path.Host; ; {
			_, above, found := strings.Cut(domain, ".")
			if !found {
				break
			}
			if domain = above; "*."+domain != path.Host && !look("*."+domain) {
				return
			}
		}
		domain, wildcard := strings.CutPrefix(path.Host, "*")
		if !wildcard {
			return
		}
		below := backwards(domain)
		x.hosts.AscendGreaterOrEqual(below, func(host string) bool {
			return strings.HasPrefix(host, below) && (backwards(host) == path.Host || look(backwards(host)))
		})
	}
}

// backwards returns a reversed host, so that the hosts of a domain sort together.
func backwards(host string) string {
	text := []byte(host)
	slices.Reverse(text)
	return string(text)
}

// bucket returns the host, or a text that is none for all hosts of gateways or Ingresses.
func (p RoutePath) bucket() string {
	if p.Host != "" {
		return p.Host
	}
	return "all of " + p.Entry.Kind + "/"
}
