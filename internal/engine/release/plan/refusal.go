package plan

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// RefusedError says why an object cannot be changed to the rendered one, and what helps.
type RefusedError struct {
	Why     string // the reason of Ready
	Message string // with the remedy
	// Err is the answer of the API server; nil if it was not asked.
	Err error
}

func (e *RefusedError) Error() string { return e.Message }

// Reason returns the reason of Ready.
func (e *RefusedError) Reason() string { return e.Why }

// Unwrap returns the answer of the API server.
func (e *RefusedError) Unwrap() error { return e.Err }

// quoted matches a field in the API server's messages.
var quoted = regexp.MustCompile(`'([A-Za-z]+)'`)

// InField returns a change with the first difference in the field that a message names, which need not be the first of
// all. The message may except parts of that: then it lists what can be changed.
func InField(change Change, cause metav1.StatusCause) Change {
	have, full := kube.Content(change.Live)
	path := strings.Split(cause.Field, ".")
	want, found, _ := unstructured.NestedFieldCopy(change.Desired.Object, path...)
	if !found || !full {
		return change
	}
	if parts, several := want.(map[string]any); several {
		for _, name := range quoted.FindAllStringSubmatch(cause.Message, -1) {
			delete(parts, name[1])
		}
	}
	live, _, _ := unstructured.NestedFieldNoCopy(have, path...)
	first := lacking("."+cause.Field, want, live)
	if first == nil {
		return change
	}
	change.Field = strings.TrimPrefix(first.path, ".")
	change.Old, change.New = redacted(change.Desired, change.Field, first.old, first.want)
	return change
}

// FixedSize returns the error for growing a claim whose class does not allow that.
func FixedSize(change Change, err error) *RefusedError {
	return &RefusedError{Why: v1.ReasonImmutableChange, Err: err,
		Message: cannotChange(change, strings.Join(requested, ".")) +
			", because its StorageClass does not allow expansion: set it back, or ask the platform team for allowVolumeExpansion"}
}

// cannotChange names the field of an object that cannot be changed; a field that is known to differ is preferred.
func cannotChange(change Change, field string) string {
	key, what := kube.KeyOf(change.Desired), "cannot be changed"
	if change.Old != "" || change.New != "" {
		what = fmt.Sprintf("cannot change from %s to %s", change.Old, change.New)
	}
	return fmt.Sprintf("%s of %s %q %s", cmp.Or(change.Field, field), key.Kind, key.Name, what)
}

// ImmutableChange returns the error for a change of a field that cannot be changed; err is the answer of the API
// server, if it was asked.
func ImmutableChange(change Change, field string, err error) *RefusedError {
	key := kube.KeyOf(change.Desired)
	remedy := fmt.Sprintf("set it back, or delete the %s so that it is created again", key.Kind)
	if kube.TraitsOf(key.GroupKind).Grows {
		remedy += ", without its data"
	}
	if kube.TraitsOf(key.GroupKind).Claims != nil {
		remedy += ", with --cascade=orphan to keep its pods"
	}
	return &RefusedError{Why: v1.ReasonImmutableChange, Err: err, Message: cannotChange(change, field) + ": " + remedy}
}
