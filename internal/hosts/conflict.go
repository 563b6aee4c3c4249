package hosts

import (
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// Held is a rendered route object that has to be held back: what is live of it stays as it is.
type Held struct {
	Key      kube.Key
	Conflict *ConflictError
}

// ConflictError says that somebody else serves what a route object claims.
type ConflictError struct {
	Claim string // as in www.example.com/shop
	// Holder is the kind and the name of who serves it; empty if that is in another namespace, which may be somebody else's business.
	Holder string
}

func (e *ConflictError) Error() string {
	holder := e.Holder
	if holder == "" {
		holder = "somebody in another namespace"
	}
	return fmt.Sprintf("%s is served by %s: choose another host or path", e.Claim, holder)
}

// Reason is that of Ready.
func (e *ConflictError) Reason() string { return v1.ReasonHostConflict }

func conflictOf(s *stake, claim Claim, rival *stake) *ConflictError {
	conflict := &ConflictError{Claim: claim.String()}
	if rival.place.namespace == s.place.namespace {
		kind, name := rival.owner.Kind, rival.owner.Name
		if name == "" {
			kind, name = rival.place.Kind, rival.place.Name
		}
		conflict.Holder = fmt.Sprintf("%s %q", kind, name)
	}
	return conflict
}
