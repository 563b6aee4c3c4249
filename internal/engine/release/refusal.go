package release

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

// Refused reports whether the API server refused a request permanently, rather than for now.
func Refused(err error) bool {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false
	}
	code := answer.Status().Code
	return code >= 400 && code < 500 && !apierrors.IsTooManyRequests(err) && !apierrors.IsConflict(err) &&
		!apierrors.IsTimeout(err) && code != http.StatusRequestTimeout
}

// explain converts the API server's answer to a write into a RefusedError if its cause is known.
func (a *applier) explain(ctx context.Context, change plan.Change, err error) error {
	var answer apierrors.APIStatus
	if malformed, fields := untyped(err); malformed {
		return &MalformedError{Key: kube.KeyOf(change.Desired), Fields: fields, Err: err}
	}
	if change.Live != nil && apierrors.IsForbidden(err) && kube.TraitsOf(kube.KeyOf(change.Desired).GroupKind).Grows &&
		strings.Contains(err.Error(), "resize") {
		return plan.FixedSize(change, err)
	}
	if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) || !errors.As(err, &answer) ||
		answer.Status().Details == nil {
		return err
	}
	for _, cause := range answer.Status().Details.Causes {
		port := strings.HasSuffix(cause.Field, "nodePort")
		switch {
		case port && strings.Contains(cause.Message, "already allocated"):
			return a.takenPort(ctx, change.Desired, cause, err)
		case port && strings.Contains(cause.Message, "range"):
			_, rangeOf, _ := strings.Cut(cause.Message, "The range of valid ports is ")
			return &plan.RefusedError{Why: v1.ReasonNodePortInvalid, Err: err,
				Message: fmt.Sprintf("node port %s is outside of the range of the cluster (%s): choose one within it, or leave nodePort out", portOf(cause), rangeOf)}
		case change.Live != nil && immutable(cause.Message):
			return plan.ImmutableChange(plan.InField(change, cause), cause.Field, err)
		}
	}
	return err
}

// untypedWords begin the message of the API server if an applied object does not match the fields and types of its
// kind; it has no reason for that, and the code of an internal error.
const untypedWords = "failed to create typed patch object ("

// untyped reports whether the API server's message is that an applied object has fields which its kind does not have,
// and returns them.
func untyped(err error) (yes bool, fields string) {
	var answer apierrors.APIStatus
	if !errors.As(err, &answer) {
		return false, ""
	}
	_, rest, found := strings.Cut(answer.Status().Message, untypedWords)
	if !found {
		return false, ""
	}
	_, rest, _ = strings.Cut(rest, "): ")
	var list []string
	for line := range strings.Lines(rest) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, ".") {
			field, _, _ := strings.Cut(line, ", got ") // the value may be secret
			list = append(list, field)
		}
	}
	return true, strings.Join(list, "; ")
}

// immutable reports whether a message of the API server is about a field that cannot be changed. It has no reason of
// its own for that.
func immutable(message string) bool {
	known := []string{"immutable", "may not change", "not be changed", "can not be less than",
		"updates to statefulset spec"}
	return slices.ContainsFunc(known, func(words string) bool { return strings.Contains(message, words) })
}

// takenPort names the Service that holds a node port if it is in the same namespace; the names of others are not
// disclosed.
func (a *applier) takenPort(ctx context.Context, desired *unstructured.Unstructured, cause metav1.StatusCause,
	err error) error {
	port := portOf(cause)
	holder := "a Service in another namespace"
	services := &corev1.ServiceList{}
	if a.live.List(ctx, services, client.InNamespace(desired.GetNamespace())) == nil {
		for i := range services.Items {
			for _, entry := range services.Items[i].Spec.Ports {
				if fmt.Sprint(entry.NodePort) == port {
					holder = fmt.Sprintf("Service %q", services.Items[i].Name)
				}
			}
		}
	}
	return &plan.RefusedError{Why: v1.ReasonNodePortConflict, Err: err,
		Message: fmt.Sprintf("node port %s is taken by %s: choose another one, or leave nodePort out", port, holder)}
}

// portOf returns the number in a message such as "Invalid value: 30002: provided port is already allocated".
func portOf(cause metav1.StatusCause) string {
	_, rest, _ := strings.Cut(cause.Message, "Invalid value: ")
	port, _, _ := strings.Cut(rest, ":")
	return port
}

// staysHeadless detects a change that the API server ignores silently: a headless Service stays headless if clusterIP
// is left out.
func staysHeadless(change plan.Change) *plan.RefusedError {
	live := kube.As[corev1.Service](change.Live)
	if live == nil {
		return nil
	}
	have := live.Spec.ClusterIP
	want, _, _ := unstructured.NestedString(change.Desired.Object, "spec", "clusterIP")
	if have != corev1.ClusterIPNone || want != "" {
		return nil
	}
	change.Field, change.Old, change.New = "spec.clusterIP", have, "one of the cluster's"
	return plan.ImmutableChange(change, change.Field, nil)
}
