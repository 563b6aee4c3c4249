package generate

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// Note is what the annotations of a live Secret say of how it was filled. Whoever may write the Secret may forge them:
// he only withholds values from himself, or has them made again.
type Note struct {
	// Keys that were filled, sorted.
	Keys []string
	// Version of them; empty if it is not a version.
	Version string
}

// versions are those that the operator writes: the number of a release, and how often keys were made again since.
var versions = regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,9})?$`)

// NoteOf returns what the annotations of a live Secret say.
func NoteOf(live client.Object) Note {
	annotations := live.GetAnnotations()
	note := Note{}
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
	return map[string]string{v1.AnnotationGenerated: strings.Join(n.Keys, ","), v1.AnnotationGeneratedVersion: n.Version}
}

// Certificates returns the keys of certificates among those that were filled; nil for none.
func (n Note) Certificates() (keys []string) {
	for _, key := range n.Keys {
		if slices.Contains(slices.Concat(certificates["ca"], certificates["tls"]), key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// Lacks returns the first field of a live Secret that has yet to be filled; empty if there is none. Data is nil if only
// the metadata is known: then the annotations are believed. Of certificates they always are.
func (w Request) Lacks(note Note, data map[string]any) string {
	for _, key := range w.Keys() {
		_, made := w.Values[key]
		if _, there := data[key]; !slices.Contains(note.Keys, key) || made && data != nil && !there {
			return "data." + key
		}
	}
	if !w.None() && note.Version == "" {
		return "metadata.annotations." + v1.AnnotationGeneratedVersion
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
