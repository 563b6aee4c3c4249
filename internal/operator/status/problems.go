package status

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/operator/status/diagnose"
	"github.com/example/appservice-operator/internal/operator/status/health"
	"github.com/example/appservice-operator/internal/operator/status/reason"
)

// mostParts is how many parts of one problem are listed.
const mostParts = 30

// warning returns a problem with the hint of its reason.
func warning(source, why, message string) v1.Problem {
	return v1.Problem{Type: v1.ProblemWarning, Source: source, Reason: why, Message: message, Hint: reason.Of(why).Hint}
}

// problems lists the problems, errors first.
func problems(in Input, objects []objectState, main client.Object, v verdict, expiring []v1.Problem) []v1.Problem {
	var list []v1.Problem
	switch {
	case v.outcome == paused:
	case in.Problem == nil:
		list = append(list, failed(in)...)
		list = append(list, wrong(in, objects)...)
	case v.outcome == stuck:
		hint, parts := cmp.Or(in.Problem.Hint, reason.Of(v.reason).Hint), in.Problem.Parts
		if len(parts) == 0 {
			parts = []string{v.message}
		}
		for _, part := range parts[:min(len(parts), mostParts)] {
			list = append(list, v1.Problem{Type: v1.ProblemError, Reason: v.reason, Message: OneLine(part), Hint: hint})
		}
	}
	for _, key := range in.Unserved {
		message := fmt.Sprintf("the cluster does not serve %s in group %s, so it was left out", key.Kind, key.Group)
		list = append(list, warning(key.Kind, v1.ReasonAPIAbsent, message))
	}
	list = append(list, unknown(in.Unknown)...)
	for _, each := range in.Warnings[:min(len(in.Warnings), mostParts)] {
		list = append(list, warning(each.Source, each.Reason, OneLine(each.Message)))
	}
	if in.Namesake != "" && v.reason != v1.ReasonResourceExists {
		list = append(list, v1.Problem{
			Type: v1.ProblemWarning, Source: in.Namesake, Reason: v1.ReasonResourceExists,
			Hint:    "recreate this resource under another name",
			Message: fmt.Sprintf("%s %q has the same name, and so have its release records: a release of one may conflict with one of the other", in.Namesake, in.Resource.GetName()),
		})
	}
	for _, missing := range in.Missing {
		switch {
		case missing.Kind == reference.IngressClass, missing.Kind == reference.StorageClass, missing.By == reference.ByTLS:
			continue // the object that refers to it reports it
		}
		message := fmt.Sprintf("%s does not exist, %s refers to it", missing.Object, missing.By)
		if missing.Key != "" {
			message = fmt.Sprintf("%s has no key %q, %s refers to it", missing.Object, missing.Key, missing.By)
		}
		list = append(list, warning(missing.Kind, v1.ReasonReferenceMissing, message))
	}
	if in.Waits.Message != "" {
		waits := warning("operator", v1.ReasonRolloutHeldBack, OneLine(in.Waits.Message))
		waits.Hint = cmp.Or(in.Waits.Hint, waits.Hint)
		list = append(list, waits)
	}
	listed := v.outcome == stuck && in.Problem != nil && in.Decayed != nil && in.Problem.Message == in.Decayed.Message
	if in.Decayed != nil && !listed {
		decayed := warning("operator", in.Decayed.Reason, OneLine("the running release is not kept as it is: "+in.Decayed.Message))
		decayed.Hint = cmp.Or(in.Decayed.Hint, decayed.Hint)
		list = append(list, decayed)
	}
	list = append(list, outdated(in.Outdated)...)
	for _, conflict := range in.Beside {
		beside := warning("operator", v1.ReasonHostConflict, OneLine("still serving, although "+conflict.Error()))
		if known := (interface{ Hint() string })(nil); errors.As(conflict, &known) {
			beside.Hint = cmp.Or(known.Hint(), beside.Hint)
		}
		list = append(list, beside)
	}
	list = append(list, shutOut(in)...)
	list = append(list, expiring...)
	return append(list, ignoredSize(main)...)
}

// outdated lists the fields that are allowed only because the recorded release has them.
func outdated(kept *Problem) (list []v1.Problem) {
	if kept == nil {
		return nil
	}
	for _, part := range kept.Parts[:min(len(kept.Parts), mostParts)] {
		list = append(list, v1.Problem{Type: v1.ProblemWarning, Source: "policy", Reason: kept.Reason, Message: OneLine(part),
			Hint: kept.Hint})
	}
	return list
}

// failed says what failed before the resource returned to the release that runs.
func failed(in Input) []v1.Problem {
	if in.Returned == "" {
		return nil
	}
	return []v1.Problem{{Type: v1.ProblemError, Source: "spec", Reason: v1.ReasonReturnedToRelease,
		Message: OneLine(in.Returned), Hint: reason.Of(v1.ReasonReturnedToRelease).Hint}}
}

// wrong lists the problems of objects, errors first: the causes if they are known, else what the object itself shows.
func wrong(in Input, objects []objectState) []v1.Problem {
	var list []v1.Problem
	main, _ := mainOf(in.Resource.GetName(), in.Rendered)
	for _, one := range objects {
		causes := in.Causes[one.key]
		known := slices.ContainsFunc(causes, func(c diagnose.Cause) bool { return c.Reason == one.Reason })
		if one.Verdict == health.Warned || one.Verdict == health.Stuck && !known {
			list = append(list, v1.Problem{
				Type: typeOf(one.Verdict == health.Stuck), Source: one.key.String(), Message: OneLine(one.Message),
				Reason: cmp.Or(one.Reason, v1.ReasonResourceNotReady),
				Hint: cmp.Or(one.Hint, reason.Of(one.Reason).Hint,
					"see kubectl describe, or ask the team that runs its controller"),
			})
		}
		for _, cause := range causes {
			message := OneLine(cause.Text())
			if one.key != main {
				message = OneLine(withName(one.key, message))
			}
			list = append(list, v1.Problem{
				Type: typeOf(cause.Effect == diagnose.Lasting), Source: cause.Source, Reason: cause.Reason,
				Message: message, Hint: cause.Hint,
			})
		}
	}
	slices.SortStableFunc(list, func(a, b v1.Problem) int { return cmp.Compare(a.Type, b.Type) }) // Error, Warning
	return list
}

func typeOf(isError bool) v1.ProblemType {
	if isError {
		return v1.ProblemError
	}
	return v1.ProblemWarning
}

// ignoredSize warns of a size that was changed after autoscaling began with another one.
func ignoredSize(main client.Object) []v1.Problem {
	if main == nil {
		return nil
	}
	size, autoscaled := main.GetAnnotations()[v1.AnnotationInitialReplicas]
	started, noted := main.GetAnnotations()[v1.AnnotationStartedWith]
	if !noted {
		started = "1"
	}
	if !autoscaled || size == started {
		return nil
	}
	message := fmt.Sprintf("spec.size %s has no effect while spec.autoscaling decides on the number of replicas; "+
		"autoscaling started with %s", size, started)
	return []v1.Problem{warning("spec.size", v1.ReasonSizeIgnored, OneLine(message))}
}
