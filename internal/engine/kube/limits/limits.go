// Package limits owns the size limits of a resource: of itself, its references, the paths of its routes and its
// rendered objects. With these limits, a thousand of the largest resources fit into the default memory of the operator.
// The CRD of AppService refuses most larger resources before they are stored; the limits here apply to all others:
// other kinds, an older CRD, what spec.podTemplate or a chart makes of little.
package limits

import (
	"errors"
	"fmt"

	v1 "github.com/example/appservice-operator/api/v1"
)

const (
	// Resource is the maximum size of a resource in bytes of JSON, without its status, managed fields and what kubectl
	// last applied.
	Resource = 48 << 10
	// References is the maximum number of objects, and keys of objects, that the workloads and routes of a resource may
	// refer to.
	References = 100
	// RoutePaths is the maximum number of combinations of host, path and other matches in the routes of a resource, for
	// each listener that serves them.
	RoutePaths = 128
)

// Error reports that a resource exceeds a limit.
type Error struct{ message string }

func (e *Error) Error() string { return e.message }

// Reason returns the reason of Ready.
func (e *Error) Reason() string { return v1.ReasonTooLarge }

// Is reports whether an error says that a resource is too large: only its user, or another chart, can fix that.
func Is(err error) bool {
	var known *Error
	return errors.As(err, &known)
}

const smaller = "keep large files in ConfigMaps of your own, mount them with spec.volumes and take variables from them with spec.envFrom"

// Bound is the maximum size of the resources of a kind in bytes of JSON; 0 stands for Resource.
type Bound int

const (
	// Published is the bound of kinds whose charts are served as they were published: their specs hold dashboards and
	// configuration files.
	Published Bound = 128 << 10
	// PublishedWithMemory is that bound if the operator has RaisedMemory.
	PublishedWithMemory Bound = 512 << 10
	// RaisedMemory is what the collector may take of 2 GiB, four times the operator's memory by default: nine tenths,
	// rounded down.
	RaisedMemory = 1800 << 20
)

func (b Bound) bytes() int { return max(int(b), Resource) }

// OfResource returns an error if a resource has too many bytes.
func (b Bound) OfResource(bytes int) error {
	if bytes <= b.bytes() {
		return nil
	}
	return &Error{fmt.Sprintf("spec and metadata have %d KiB as JSON, more than %d KiB: %s", kibibytes(bytes),
		b.bytes()>>10, smaller)}
}

// OfReferences returns an error if there are too many references for a resource of that size.
func (b Bound) OfReferences(count int) error {
	most := References * b.bytes() / Resource
	if count <= most {
		return nil
	}
	return &Error{fmt.Sprintf("the pods refer to %d ConfigMaps, Secrets, keys of them and other objects, more than %d: "+
		"take all keys of an object together with spec.envFrom, or mount it with spec.volumes", count, most)}
}

// OfRoutePaths returns an error if routes have too many paths.
func OfRoutePaths(count int) error {
	if count <= RoutePaths {
		return nil
	}
	return &Error{fmt.Sprintf("the routes have %d combinations of listener, host and path, more than %d: "+
		"give them fewer hosts and paths, or spread them over several resources", count, RoutePaths)}
}

// OfRendered returns an error if objects have too many bytes of JSON for a chart of the given size: twice those of the
// resource, besides the contents of the chart.
func (b Bound) OfRendered(bytes, chart int) error {
	most := 2*b.bytes() + chart
	if bytes <= most {
		return nil
	}
	return &Error{fmt.Sprintf("the rendered objects have %d KiB as JSON, more than %d KiB: make the spec smaller; %s",
		kibibytes(bytes), kibibytes(most), smaller)}
}

// kibibytes rounds up, so that a size just above a limit differs from the limit.
func kibibytes(bytes int) int { return (bytes + 1<<10 - 1) >> 10 }
