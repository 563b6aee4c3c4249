package release

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/text"
)

// NotOursError reports that an object or a Helm release with a rendered name belongs to another owner.
type NotOursError struct {
	// Key of the object; kind "Helm release" for a release.
	Key kube.Key
	// Owner in words, for example `controlled by Widget "web"`.
	Owner string
	// Remedy says what to do without losing what the object holds; empty for what the reason says.
	Remedy string
	// More are the others that are in the way.
	More []*NotOursError
}

// mostNamed is how many objects a message names.
const mostNamed = 3

func (e *NotOursError) Error() string { return strings.Join(text.First(e.all(), mostNamed), "; ") }

// Parts returns all objects that are in the way, one by one; nil for one.
func (e *NotOursError) Parts() []string {
	if len(e.More) == 0 {
		return nil
	}
	return e.all()
}

func (e *NotOursError) all() []string {
	list := []string{fmt.Sprintf("%s %q exists and is %s", e.Key.Kind, e.Key.Name, e.Owner)}
	for _, other := range e.More {
		list = append(list, other.all()...)
	}
	return list
}

// Hint returns what to do about them.
func (e *NotOursError) Hint() string {
	var hints []string
	for _, each := range append([]*NotOursError{e}, e.More...) {
		if each.Remedy != "" && !slices.Contains(hints, each.Remedy) {
			hints = append(hints, each.Remedy)
		}
	}
	return strings.Join(hints, "; ")
}

// allOf returns one error for all objects that are in the way; nil for none.
func allOf(found []*NotOursError) error {
	if len(found) == 0 {
		return nil
	}
	first := *found[0]
	first.More = slices.Concat(first.More, found[1:])
	return &first
}

// Reason returns the reason of Ready.
func (e *NotOursError) Reason() string { return v1.ReasonResourceExists }

// PreviousError reports that objects of an earlier resource of the same kind and name still exist: the garbage
// collector is about to delete them. Trying again helps.
type PreviousError struct{ Left []Remnant }

// Remnant is an object of an earlier resource.
type Remnant struct {
	kube.Key
	// Going is its deletion; nil while that is about to be requested.
	Going *kube.Deletion
}

func (e *PreviousError) Error() string {
	var parts []string
	for _, left := range e.Left {
		part := fmt.Sprintf("%s %q", left.Kind, left.Name)
		if left.Going != nil {
			part += fmt.Sprintf(" (%s)", left.Going)
		}
		parts = append(parts, part)
	}
	return "waiting for Kubernetes to delete leftovers of an earlier resource of this name: " +
		strings.Join(parts, "; ")
}

// Deletions returns those that are waited for.
func (e *PreviousError) Deletions() []*kube.Deletion {
	var list []*kube.Deletion
	for _, left := range e.Left {
		if left.Going != nil {
			list = append(list, left.Going)
		}
	}
	return list
}

// MalformedError reports that an object has a field that its kind does not have, or a field of the wrong type.
type MalformedError struct {
	Key kube.Key
	// Fields in the words of the API server.
	Fields string
	Err    error
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("%s %q is not valid: %s", e.Key.Kind, e.Key.Name, e.Fields)
}

// Unwrap returns the answer of the API server.
func (e *MalformedError) Unwrap() error { return e.Err }

// undeclared returns the path of the first field that the kind does not have; empty if all have the wrong type.
func (e *MalformedError) undeclared() string {
	for field := range strings.SplitSeq(e.Fields, "; ") {
		if path, is := strings.CutSuffix(field, ": field not declared in schema"); is {
			return strings.TrimPrefix(path, ".")
		}
	}
	return ""
}

// DamagedError reports that the newest record of a release cannot be decoded, so that the recorded release cannot be
// repaired.
type DamagedError struct {
	Revision int
	Secret   string // name of the Secret of the record
	Err      error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the record of release %d (Secret %q) is damaged: %v", e.Revision, e.Secret, e.Err)
}

// Unwrap returns the cause.
func (e *DamagedError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *DamagedError) Reason() string { return v1.ReasonRecordDamaged }

// ContendedError reports that another writer changes a field each time it is repaired.
type ContendedError struct {
	// Field is the object and the path of the field, for example "Deployment web: spec.replicas".
	Field string
	// By is the other writer; empty if there is none, or none is known.
	By string
	// Remedy is what helps against this writer, if that is known.
	Remedy string
	// Every is the time between repairs, and Wait that until the next one.
	Every, Wait time.Duration
}

func (e *ContendedError) Error() string {
	if e.By == "" {
		return fmt.Sprintf("%s does not stay as it is written, and no other writer is known: the API server or a webhook may "+
			"leave it out or change it; it is written at most every %s", e.Field, e.Every)
	}
	return fmt.Sprintf("%s is changed each time it is restored, last by %s: it is restored at most every %s", e.Field,
		e.By, e.Every)
}

// Reason returns the reason of Ready.
func (e *ContendedError) Reason() string { return v1.ReasonContended }

// Hint returns what helps against the other writer.
func (e *ContendedError) Hint() string { return e.Remedy }

// StaleError reports that the caches are behind the cluster, so that nothing could be decided. Trying again helps.
type StaleError struct{ Err error }

func (e *StaleError) Error() string { return fmt.Sprintf("caches are behind: %v", e.Err) }

// Unwrap returns the cause.
func (e *StaleError) Unwrap() error { return e.Err }
