package read

import (
	"slices"
	"strings"
)

// Notes are notes in the order in which they were made.
type Notes []Note

// Add adds a note.
func (n *Notes) Add(object, field, reason, remedy string) {
	*n = append(*n, Note{Object: object, Field: field, Reason: reason, Remedy: remedy})
}

// AddOnce adds a note, unless it is there.
func (n *Notes) AddOnce(note Note) {
	if !slices.Contains(*n, note) {
		*n = append(*n, note)
	}
}

// Failure is an object that cannot be imported.
type Failure struct {
	// Object is its kind and name.
	Object string
	Err    error
}

// Note explains why a field, or a whole object, differs with the AppService, and has a remedy.
type Note struct {
	// Object is its kind and name, as in "Deployment web".
	Object string
	// Field is its path; empty for the object as a whole.
	Field string
	// Reason is the difference and its cause.
	Reason string
	// Remedy is what to do, or how to keep the original.
	Remedy string
	// Unexplained is set for a difference that no rule explains, which is a bug of this package.
	Unexplained bool
}

// Place returns the object and the field.
func (n Note) Place() string { return strings.TrimSuffix(n.Object+" "+n.Field, " ") }

// String returns the note in one line.
func (n Note) String() string {
	text := n.Place() + ": " + n.Reason
	if n.Remedy != "" {
		text += "; " + n.Remedy
	}
	return text
}
