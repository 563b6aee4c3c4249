package hosts

import (
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// HeldRoute is a route object that has to be held back.
type HeldRoute struct {
	Key kube.Key
	// Err is a ConflictError, or the refusal of the platform's rules.
	Err error
}

// ConflictError reports that another route has a path of a route object.
type ConflictError struct {
	Path string // as in www.example.com/shop
	// Holder is the kind and the name of the object that has it; empty if it is in another namespace, whose names are not
	// disclosed.
	Holder string
	// Granted says that the holder has it because the platform granted it.
	Granted bool
	// Below says that the holder, in another namespace, has a wildcard by a route that the operator did not make.
	Below bool
}

func (e *ConflictError) Error() string {
	switch {
	case e.Holder != "":
		return fmt.Sprintf("%s is already served by %s", e.Path, e.Holder)
	case e.Below:
		return e.Path + " is below a wildcard of a route in another namespace"
	case e.Granted:
		return e.Path + " is granted to another namespace by the platform's policy"
	}
	return e.Path + " is already used by another namespace (only one namespace may use a host)"
}

// Reason returns the reason of Ready.
func (e *ConflictError) Reason() string { return v1.ReasonHostConflict }

// Hint returns who can change that.
func (e *ConflictError) Hint() string {
	switch {
	case e.Holder != "":
		return ""
	case e.Below:
		return "choose another host, or ask the platform team: its policy can grant the host to this namespace (hosts), or name it (belowWildcards)"
	}
	return "choose another host, or ask the platform team: its policy can grant the host to this namespace (hosts), or let several share it (sharedHosts)"
}

// conflict returns the conflict of a candidate with a rival.
func (h *Hosts) conflict(c, rival *candidate, path RoutePath) error {
	conflict := &ConflictError{Path: path.String(), Granted: h.grantedOver(rival, c, path),
		Below: h.wildcards.has(rival)}
	if conflict.Below {
		if h.below[rival.route] == nil {
			h.below[rival.route] = map[owner]bool{}
		}
		h.below[rival.route][c.owner] = true // until the route changes
	}
	if rival.route.namespace == c.route.namespace {
		kind, name := rival.owner.Kind, rival.owner.Name
		if name == "" {
			kind, name = rival.route.Kind, rival.route.Name
		}
		conflict.Holder = fmt.Sprintf("%s %q", kind, name)
	}
	return conflict
}
