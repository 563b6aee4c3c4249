package hosts

import "strings"

// index finds stakes that may overlap with a claim, without looking at all there are.
type index map[string]map[*stake][]Claim

func (x index) add(s *stake) {
	for _, claim := range s.claims {
		for _, bucket := range standsIn(claim) {
			if x[bucket] == nil {
				x[bucket] = map[*stake][]Claim{}
			}
			x[bucket][s] = append(x[bucket][s], claim)
		}
	}
}

func (x index) remove(s *stake) {
	for _, claim := range s.claims {
		for _, bucket := range standsIn(claim) {
			delete(x[bucket], s)
			if len(x[bucket]) == 0 {
				delete(x, bucket)
			}
		}
	}
}

// rivals calls visit for each stake of another resource that contradicts a claim of a stake.
func (x index) rivals(of *stake, claim Claim, rules Rules, visit func(*stake)) {
	for _, bucket := range looksInto(claim) {
	next:
		for other, claims := range x[bucket] {
			if of.owner == other.owner {
				continue
			}
			for _, theirs := range claims {
				if of.contradicts(claim, theirs, other, rules) {
					visit(other)
					continue next
				}
			}
		}
	}
}

// standsIn lists the buckets of a claim: that of its host, those of the domains above it, and that of its entry.
func standsIn(claim Claim) []string {
	if claim.Host == "" {
		return []string{"all of " + claim.Entry.bucket()}
	}
	buckets := []string{"host " + claim.Host, "some of " + claim.Entry.bucket()}
	for _, domain := range domains(claim.Host) {
		buckets = append(buckets, "below "+domain)
	}
	return buckets
}

// looksInto lists the buckets of all claims that may overlap with a claim.
func looksInto(claim Claim) []string {
	entry := claim.Entry.bucket()
	if claim.Host == "" {
		return []string{"all of " + entry, "some of " + entry}
	}
	buckets := []string{"host " + claim.Host, "all of " + entry}
	for i, domain := range domains(claim.Host) {
		if i == 0 && claim.Host == "*."+domain {
			buckets = append(buckets, "below "+domain) // it includes the claims for the same wildcard
			continue
		}
		buckets = append(buckets, "host *."+domain)
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

// bucket is the same for entries that overlap.
func (e Entry) bucket() string {
	if e.Kind == ingressKind.Kind {
		return e.Kind
	}
	return e.Kind + " " + e.Name
}
