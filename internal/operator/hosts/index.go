package hosts

import (
	"iter"
	"slices"
	"strings"

	"github.com/google/btree"
)

// index finds stakes whose hosts overlap with a claim's, without looking at all of them. Hosts below a wildcard are a
// range of the sorted reversed hosts.
type index struct {
	buckets map[string]map[*stake]struct{}
	hosts   *btree.BTreeG[string]
}

func newIndex() index {
	return index{map[string]map[*stake]struct{}{}, btree.NewOrderedG[string](32)}
}

func (x index) add(s *stake) {
	for _, claim := range s.claims {
		bucket := claim.bucket()
		if x.buckets[bucket] == nil {
			x.buckets[bucket] = map[*stake]struct{}{}
			x.hosts.ReplaceOrInsert(backwards(bucket))
		}
		x.buckets[bucket][s] = struct{}{}
	}
}

func (x index) remove(s *stake) {
	for _, claim := range s.claims {
		bucket := claim.bucket()
		if delete(x.buckets[bucket], s); len(x.buckets[bucket]) == 0 {
			delete(x.buckets, bucket)
			x.hosts.Delete(backwards(bucket))
		}
	}
}

// has reports whether a stake is in the index.
func (x index) has(s *stake) bool {
	return slices.ContainsFunc(s.claims, func(c Claim) bool { _, there := x.buckets[c.bucket()][s]; return there })
}

// rivals are the stakes of other resources that contradict a claim of a stake.
func (x index) rivals(of *stake, claim Claim, rules Rules) iter.Seq[*stake] {
	return func(yield func(*stake) bool) {
		look := func(bucket string) bool {
			for other := range x.buckets[bucket] {
				if of.against(claim, other, rules) && !yield(other) {
					return false
				}
			}
			return true
		}
		if !look(claim.bucket()) || claim.Host == "" {
			return
		}
		for domain := claim.Host; ; {
			_, above, found := strings.Cut(domain, ".")
			if !found {
				break
			}
			if domain = above; "*."+domain != claim.Host && !look("*."+domain) {
				return
			}
		}
		domain, wildcard := strings.CutPrefix(claim.Host, "*")
		if !wildcard {
			return
		}
		below := backwards(domain)
		x.hosts.AscendGreaterOrEqual(below, func(host string) bool {
			return strings.HasPrefix(host, below) && (backwards(host) == claim.Host || look(backwards(host)))
		})
	}
}

// backwards returns a reversed host, so that the hosts of a domain sort together.
func backwards(host string) string {
	text := []byte(host)
	slices.Reverse(text)
	return string(text)
}

// bucket returns the host, or what no host is for all hosts of gateways or Ingresses.
func (c Claim) bucket() string {
	if c.Host != "" {
		return c.Host
	}
	return "all of " + c.Entry.Kind + "/"
}
