package generate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// never stands for the time of renewal of certificates that others made.
const never = "never"

// Note is what the annotations of a live Secret say of how it was filled. Whoever may write the Secret may forge them:
// he only withholds values from himself, or has them made again.
type Note struct {
	// Keys that were filled, sorted.
	Keys []string
	// Version of them; empty if it is not a version.
	Version string
	// For identifies the DNS names that the certificate was made for.
	For string
	// RenewAfter is when to look at the certificates again; empty if there are none.
	RenewAfter string
}

// versions are those that the operator writes: the number of a release, and how often keys were made again since.
var versions = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)

// NoteOf returns what the annotations of a live Secret say.
func NoteOf(live client.Object) Note {
	annotations := live.GetAnnotations()
	note := Note{For: annotations[v1.AnnotationGeneratedFor], RenewAfter: annotations[v1.AnnotationRenewAfter]}
	if keys := annotations[v1.AnnotationGenerated]; keys != "" {
		note.Keys = strings.Split(keys, ",")
	}
	if version := annotations[v1.AnnotationGeneratedVersion]; versions.MatchString(version) {
		note.Version = version
	}
	return note
}

// annotations returns a note as NoteOf reads it.
func (n Note) annotations() map[string]string {
	out := map[string]string{v1.AnnotationGenerated: strings.Join(n.Keys, ","), v1.AnnotationGeneratedVersion: n.Version}
	if n.For != "" {
		out[v1.AnnotationGeneratedFor] = n.For
	}
	if n.RenewAfter != "" {
		out[v1.AnnotationRenewAfter] = n.RenewAfter
	}
	return out
}

// Renewal returns when a certificate of a live Secret must be renewed; the zero time if none is, or if the annotation
// is not a time.
func (n Note) Renewal() time.Time {
	at, err := time.Parse(time.RFC3339, n.RenewAfter)
	if err != nil {
		return time.Time{}
	}
	return at
}

// Due reports whether a certificate must be renewed.
func (n Note) Due(now time.Time) bool {
	at := n.Renewal()
	return !at.IsZero() && !now.Before(at)
}

// Lacks returns the first field of a live Secret that has yet to be filled; empty if there is none. Data is nil if only
// the metadata is known: then the annotations are believed.
func (w Wanted) Lacks(note Note, data map[string]any) string {
	for _, key := range w.Keys() {
		if _, there := data[key]; !slices.Contains(note.Keys, key) || data != nil && !there {
			return "data." + key
		}
	}
	switch {
	case w.None():
		return ""
	case note.Version == "":
		return "metadata.annotations." + v1.AnnotationGeneratedVersion
	case w.nameDigest() != note.For:
		return "data." + TLSCert
	case w.CA > 0 && note.RenewAfter != never && note.Renewal().IsZero():
		return "metadata.annotations." + v1.AnnotationRenewAfter
	}
	return ""
}

// FirstVersion returns the version of a Secret that is filled for the first time, or again after it was lost, while a
// release of a revision is the newest; 0 for none. It differs from the version before.
func FirstVersion(revision int) string { return strconv.Itoa(revision + 1) }

// next returns the version after another one.
func next(version string) string {
	base, times, _ := strings.Cut(version, ".")
	again, _ := strconv.Atoi(times) // none stands for 0
	return base + "." + strconv.Itoa((again+1)%1e9)
}
