package status

import (
	"cmp"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube/reference"
	"github.com/example/appservice-operator/internal/status/diagnose"
	"github.com/example/appservice-operator/internal/status/health"
	"github.com/example/appservice-operator/internal/status/reason"
)

// mostParts is how many parts of one problem are listed.
const mostParts = 30

// warning returns a problem with the hint of its reason.
func warning(source, why, message string) v1.Problem {
	return v1.Problem{Type: v1.ProblemWarning, Source: source, Reason: why, Message: message, Hint: reason.Of(why).Hint}
}

// problems lists what is wrong or worth knowing, errors first.
func problems(in Input, objects []objectState, main client.Object, v verdict) []v1.Problem {
	var list []v1.Problem
	switch {
	case v.outcome == paused:
	case in.Problem == nil:
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
	if in.Namesake != "" && v.reason != v1.ReasonResourceExists {
		list = append(list, v1.Problem{
			Type: v1.ProblemWarning, Source: in.Namesake, Reason: v1.ReasonResourceExists, Hint: "create this one again under another name",
			Message: fmt.Sprintf("%s %q has the same name, and release records are named after both: a release of one may be refused for the other's", in.Namesake, in.Resource.GetName()),
		})
	}
	for _, missing := range in.Missing {
		switch missing.Kind {
		case reference.IngressClass, reference.StorageClass:
			continue // the object that refers to it reports it
		case reference.Secret:
			if missing.By == reference.ByTLS {
				continue
			}
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
	for _, conflict := range in.Beside {
		list = append(list, warning("operator", v1.ReasonHostConflict, OneLine("served beside another: "+conflict.Error())))
	}
	list = append(list, shutOut(in)...)
	list = append(list, expiring(in)...)
	if problem, ignored := ignoredSize(main); ignored {
		list = append(list, problem)
	}
	return list
}

// mostUnknown is how many fields that the operator does not know are listed.
const mostUnknown = 5

// unknown returns the problem of fields that the operator does not know.
func unknown(paths []string) []v1.Problem {
	var list []v1.Problem
	for i, path := range paths[:min(len(paths), mostUnknown)] {
		message := path + " has no effect: this operator does not know the field, which a newer CRD lets in"
		if more := len(paths) - mostUnknown; more > 0 && i == mostUnknown-1 {
			message += fmt.Sprintf(" (and %d more)", more)
		}
		list = append(list, warning(path, v1.ReasonFieldUnknown, OneLine(message)))
	}
	return list
}

// wrong lists the problems of objects, errors first: the causes if they are known, else what the object itself shows.
func wrong(in Input, objects []objectState) []v1.Problem {
	var errors, warnings []v1.Problem
	main, _ := mainOf(in.Resource.GetName(), in.Rendered)
	for _, one := range objects {
		causes := in.Causes[one.key]
		known := slices.ContainsFunc(causes, func(c diagnose.Cause) bool { return c.Reason == one.Reason })
		if one.Verdict == health.Warned || one.Verdict == health.Stuck && !known {
			problem := v1.Problem{
				Type: v1.ProblemError, Source: one.key.String(), Reason: cmp.Or(one.Reason, v1.ReasonResourceNotReady),
				Message: OneLine(one.Message), Hint: cmp.Or(one.Hint, reason.Of(one.Reason).Hint, "see kubectl describe, or ask the team that runs its controller"),
			}
			if one.Verdict == health.Warned {
				problem.Type = v1.ProblemWarning
				warnings = append(warnings, problem)
			} else {
				errors = append(errors, problem)
			}
		}
		for _, problem := range caused(causes) {
			if one.key != main {
				problem.Message = OneLine(withName(one.key, problem.Message))
			}
			if problem.Type == v1.ProblemError {
				errors = append(errors, problem)
			} else {
				warnings = append(warnings, problem)
			}
		}
	}
	return append(errors, warnings...)
}

// caused converts causes to problems; those that last are errors.
func caused(causes []diagnose.Cause) []v1.Problem {
	var list []v1.Problem
	for _, cause := range causes {
		kind := v1.ProblemWarning
		if cause.Effect == diagnose.Lasting {
			kind = v1.ProblemError
		}
		list = append(list, v1.Problem{Type: kind, Source: cause.Source, Reason: cause.Reason, Message: OneLine(cause.Text()), Hint: cause.Hint})
	}
	return list
}

// ignoredSize returns the problem of a size that was changed after autoscaling began with another one.
func ignoredSize(main client.Object) (problem v1.Problem, ignored bool) {
	if main == nil {
		return problem, false
	}
	size, autoscaled := main.GetAnnotations()[v1.AnnotationInitialReplicas]
	started, noted := main.GetAnnotations()[v1.AnnotationStartedWith]
	if !noted {
		started = "1"
	}
	if !autoscaled || size == started {
		return problem, false
	}
	message := fmt.Sprintf("spec.size %s has no effect while spec.autoscaling decides on the number of replicas; "+
		"it started with %s", size, started)
	return warning("spec.size", v1.ReasonSizeIgnored, OneLine(message)), true
}
