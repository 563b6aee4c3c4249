// Package extent owns how large a resource may be: itself, what it refers to, what its routes claim and what is rendered for it. With all
// of these bounds, a thousand of the largest resources fit into the memory that the manager has by default. The CRD of AppService refuses
// most of what is larger before it is stored; the bounds here hold for what gets past it: other kinds, an older CRD, what spec.podTemplate
// or a chart makes of little.
package extent

import (
	"errors"
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
)

const (
	// Resource is how many bytes of JSON a resource may have, without its status and managed fields.
	Resource = 48 << 10
	// References is how many objects, and keys of objects, the workloads and routes of a resource may refer to.
	References = 100
	// Claims is how many combinations of host, path and other matches the routes of a resource may have, for each listener that serves them.
	Claims = 128
	// Rendered is how many bytes of JSON the objects may have that are rendered for a resource, besides what its chart brings itself.
	Rendered = 2 * Resource
)

// Error says that a resource is larger than it may be.
type Error struct{ message string }

func (e *Error) Error() string { return e.message }

// Reason is that of Ready.
func (e *Error) Reason() string { return v1.ReasonTooLarge }

// Is reports whether an error says that a resource is too large: only its user, or another chart, can do something about that.
func Is(err error) bool {
	var known *Error
	return errors.As(err, &known)
}

const smaller = "keep large files in ConfigMaps of your own, mount them with spec.volumes and take variables from them with spec.envFrom"

// OfResource refuses a resource of so many bytes if they are too many.
func OfResource(bytes int) error {
	if bytes <= Resource {
		return nil
	}
	return &Error{fmt.Sprintf("spec and metadata have %d KiB as JSON, more than %d KiB: %s", kibibytes(bytes), Resource>>10, smaller)}
}

// OfReferences refuses so many references if they are too many.
func OfReferences(count int) error {
	if count <= References {
		return nil
	}
	return &Error{fmt.Sprintf("the pods refer to %d ConfigMaps, Secrets, keys of them and other objects, more than %d: "+
		"take all keys of an object together with spec.envFrom, or mount it with spec.volumes", count, References)}
}

// OfClaims refuses routes with so many claims if they are too many.
func OfClaims(count int) error {
	if count <= Claims {
		return nil
	}
	return &Error{fmt.Sprintf("the routes have %d combinations of listener, host and path, more than %d: "+
		"give them fewer hosts and paths, or spread them over several resources", count, Claims)}
}

// OfRendered refuses objects of so many bytes, rendered by a chart of so many, if they are too many.
func OfRendered(bytes, chart int) error {
	if bytes <= Rendered+chart {
		return nil
	}
	return &Error{fmt.Sprintf("what is rendered has %d KiB as JSON, more than %d KiB: make the spec smaller; %s",
		kibibytes(bytes), kibibytes(Rendered+chart), smaller)}
}

// kibibytes rounds up: what is too large by a byte is not as large as it may be.
func kibibytes(bytes int) int { return (bytes + 1<<10 - 1) >> 10 }
