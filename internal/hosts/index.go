package hosts

import (
	"slices"
	"strings"

	"github.com/google/btree"
)

// index finds stakes that may overlap with a claim, without looking at all of them. Its cost does not depend on how many labels
// hosts have: those below a wildcard are a range of the sorted reversed hosts.
type index struct {
	buckets map[string]map[*stake][]*Claim
	hosts   *btree.BTreeG[string]
}

func newIndex() index {
	return index{map[string]map[*stake][]*Claim{}, btree.NewOrderedG[string](32)}
}

func (x index) add(s *stake) {
	for i := range s.claims {
		claim := &s.claims[i]
		for _, bucket := range standsIn(*claim) {
			if x.buckets[bucket] == nil {
				x.buckets[bucket] = map[*stake][]*Claim{}
			}
			x.buckets[bucket][s] = append(x.buckets[bucket][s], claim)
		}
		if claim.Host != "" {
			x.hosts.ReplaceOrInsert(backwards(claim.Host))
		}
	}
}

func (x index) remove(s *stake) {
	for _, claim := range s.claims {
		for _, bucket := range standsIn(claim) {
			delete(x.buckets[bucket], s)
			if len(x.buckets[bucket]) == 0 {
				delete(x.buckets, bucket)
			}
		}
		if claim.Host != "" && x.buckets["host "+claim.Host] == nil {
			x.hosts.Delete(backwards(claim.Host))
		}
	}
}

// rivals calls visit for each stake of another resource that contradicts a claim of a stake.
func (x index) rivals(of *stake, claim Claim, rules Rules, visit func(*stake)) {
	look := func(bucket string) {
	next:
		for other, claims := range x.buckets[bucket] {
			if of.owner == other.owner {
				continue
			}
			for _, theirs := range claims {
				if of.contradicts(claim, *theirs, other, rules) {
					visit(other)
					continue next
				}
			}
		}
	}
	for _, bucket := range looksInto(claim) {
		look(bucket)
	}
	domain, wildcard := strings.CutPrefix(claim.Host, "*")
	if !wildcard {
		return
	}
	below := backwards(domain)
	x.hosts.AscendGreaterOrEqual(below, func(host string) bool {
		if !strings.HasPrefix(host, below) {
			return false
		}
		if host = backwards(host); host != claim.Host {
			look("host " + host)
		}
		return true
	})
}

// backwards returns a reversed host, so that the hosts of a domain sort together.
func backwards(host string) string {
	text := []byte(host)
	slices.Reverse(text)
	return string(text)
}

// standsIn lists the buckets that a claim is stored in: that of its host and that of its entry.
func standsIn(claim Claim) []string {
	if claim.Host == "" {
		return []string{"all of " + claim.Entry.bucket()}
	}
	return []string{"host " + claim.Host, "some of " + claim.Entry.bucket()}
}

// looksInto lists the buckets of all claims that may overlap with a claim, except for those of hosts below a wildcard.
func looksInto(claim Claim) []string {
	entry := claim.Entry.bucket()
	if claim.Host == "" {
		return []string{"all of " + entry, "some of " + entry}
	}
	buckets := []string{"host " + claim.Host, "all of " + entry}
	for _, domain := range domains(claim.Host) {
		if wildcard := "*." + domain; wildcard != claim.Host {
			buckets = append(buckets, "host "+wildcard)
		}
	}
	return buckets
}

// domains lists the domains that a host lies in, the narrowest first.
func domains(host string) []string {
	var list []string
	for {
		_, domain, found := strings.Cut(host, ".")
		if !found {
			return list
		}
		list = append(list, domain)
		host = domain
	}
}

// bucket returns the same text for entries that overlap.
func (e Entry) bucket() string {
	if e.Kind == ingressKind.Kind {
		return e.Kind
	}
	return e.Kind + " " + e.Name
}
