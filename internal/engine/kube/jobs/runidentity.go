// Package jobs decides when the Jobs run that a chart renders with the annotation rerun-on-change: once for each change
// of their content, or on request, and one at a time. It reads and writes nothing.
package jobs

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/digest"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// Rendered is the value of the annotation rerun-on-change that stands for the whole spec of the Job, as the chart
// renders it.
const Rendered = "true"

// Changeable are the fields of a Job's spec that the API server allows to change.
var Changeable = []string{"activeDeadlineSeconds", "backoffLimit", "parallelism", "suspend", "ttlSecondsAfterFinished"}

// suffixLength is the length of the digest in a name.
const suffixLength = 8

// contentLength is the length of the part of a digest that stands for the content of a Job of the stage `before`.
const contentLength = 24

// Run identifies the content of a rendered Job.
type Run struct {
	// Job is its name as the chart renders it. The name of the live Job ends with a digest, or is that of an earlier
	// operator.
	Job string
	// Digest of its content. That of a Job of the stage `before` has two parts: its content, and the request to run it
	// again.
	Digest string
	// Before reports whether it belongs to the stage `before`: one that has succeeded never runs again on request.
	Before bool
	// Skipped reports whether the user of the resource does not want it to run.
	Skipped bool

	fields   []string // of the resource's spec; nil for all
	defaults map[string]any
	same     string // digest of those fields
}

// RunsOnce reports whether an object is a Job with the annotation rerun-on-change. An ordinary plan leaves it out.
func RunsOnce(object client.Object) bool {
	kind := object.GetObjectKind().GroupVersionKind()
	return kind.Kind == "Job" && kind.Group == batchv1.GroupName && Annotated(object)
}

// Annotated reports whether an object has the annotation rerun-on-change, which is for Jobs.
func Annotated(object client.Object) bool {
	value := object.GetAnnotations()[v1.AnnotationRerun]
	return value != "" && value != "false"
}

// Of returns the run of a rendered Job for a resource, as its user wrote it. Hooks, facts and defaults of the platform
// take no part. Values that equal the defaults, those of the schema and of the chart, are the same as fields left out.
func Of(object, resource *unstructured.Unstructured, defaults map[string]any) (Run, error) {
	if !RunsOnce(object) {
		return Run{}, errors.New("has the annotation " + v1.AnnotationRerun + ", which is for Jobs only: remove it")
	}
	run := Run{Job: object.GetName(), Before: stage.Of(object) == stage.Before, defaults: defaults}
	spec, _, _ := unstructured.NestedMap(resource.Object, "spec")
	again := resource.GetAnnotations()[v1.AnnotationRestartedAt]
	value, restarted := object.GetAnnotations()[v1.AnnotationRerun], again
	if run.Before {
		restarted = ""
	}
	if value == Rendered {
		run.same = run.digest(spec, restarted)
		rendered, _, _ := unstructured.NestedMap(object.Object, "spec")
		for _, field := range Changeable {
			delete(rendered, field)
		}
		run.Digest = digestOf(run.Job, rendered, restarted)
	} else {
		run.fields = Fields(value)
		run.same = run.digest(spec, restarted)
		run.Digest = run.same
	}
	if run.Before {
		run.Digest = run.contentPart() + digest.Of([]byte(again))[:digestLength-contentLength]
		run.Skipped = run.isIn(resource.GetAnnotations()[v1.AnnotationSkipTask])
	}
	return run, nil
}

// isIn reports whether a list, separated by commas, has the digest of a run, or its content part.
func (r Run) isIn(list string) bool {
	return slices.ContainsFunc(strings.Split(list, ","), func(named string) bool {
		return strings.HasPrefix(strings.TrimSpace(named), r.contentPart())
	})
}

// contentPart is the part of a digest that stands for the content of a Job of the stage `before`.
func (r Run) contentPart() string { return ContentPart(r.Digest) }

// ContentPart returns the part of the digest of a run of the stage `before` that stands for its content.
func ContentPart(digest string) string { return digest[:min(len(digest), contentLength)] }

// Ran reports whether it is noted that a Job of the stage `before` with that content has begun, and has not failed.
func Ran(content string, noted []v1.RunStatus) bool {
	return slices.ContainsFunc(noted, func(known v1.RunStatus) bool {
		failed := known.Result == v1.RunFailed || known.Result == v1.RunUnknown
		return !failed && ContentPart(known.Digest) == ContentPart(content)
	})
}

// Settled returns a run as it is noted already, if it is not to run again: one of the stage `before` that has
// succeeded, or that has not failed since the last request.
func (r Run) Settled(noted []v1.RunStatus) Run {
	for _, known := range noted {
		if r.Before && len(known.Digest) == digestLength && Ran(r.Digest, []v1.RunStatus{known}) {
			r.Digest = known.Digest
		}
	}
	return r
}

// Settle returns runs as Settled does.
func Settle(runs []Run, noted []v1.RunStatus) []Run {
	settled := slices.Clone(runs)
	for i, run := range runs {
		settled[i] = run.Settled(noted)
	}
	return settled
}

// Due reports whether a run is still to begin, by what is noted of the runs before it.
func (r Run) Due(noted []v1.RunStatus) bool {
	r = r.Settled(noted)
	return !r.Skipped && !slices.ContainsFunc(noted, func(known v1.RunStatus) bool { return known.Digest == r.Digest })
}

// Fields returns the fields that a value of the annotation rerun-on-change lists.
func Fields(list string) []string {
	fields := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
	slices.Sort(fields)
	return slices.Compact(fields)
}

// Repeats reports whether the release of a spec and an annotation restarted-at ran the same.
func (r Run) Repeats(spec map[string]any, restarted string) bool {
	if r.Before {
		restarted = ""
	}
	return r.digest(spec, restarted) == r.same
}

// MayRepeat reports whether a noted run may have run the same: of a Job that is identified as it is rendered, its
// digest tells, and of one with a list of fields, Repeats does.
func (r Run) MayRepeat(noted v1.RunStatus) bool {
	return r.fields != nil || strings.HasPrefix(noted.Digest, r.contentPart())
}

// Name returns the name of the Job for a new run: who may not read the key cannot test guesses at what it runs. An
// empty key stands for none.
func (r Run) Name(key string) string {
	if key != "" {
		return r.stem() + digest.Keyed(key, r.Digest)[:suffixLength]
	}
	if r.Before {
		return r.stem() + digest.Of([]byte(r.Digest))[:suffixLength]
	}
	return r.stem() + r.Digest[:suffixLength]
}

// Named reports whether a live Job may be one for any run.
func (r Run) Named(job string) bool {
	return strings.HasPrefix(job, r.stem()) && len(job) == len(r.stem())+suffixLength
}

// stem is the part of the names of live Jobs before the digest. Pods have the name as a label.
func (r Run) stem() string {
	return r.Job[:min(len(r.Job), validation.LabelValueMaxLength-suffixLength-1)] + "-"
}

func (r Run) digest(spec map[string]any, restarted string) string {
	chosen := map[string]any{}
	for field, value := range spec {
		if r.fields == nil || slices.Contains(r.fields, field) {
			chosen[field] = value
		}
	}
	set, _ := without(chosen, r.defaults).(map[string]any)
	return digestOf(r.Job, set, restarted)
}

// digestLength is the length of digests in hexadecimal characters.
const digestLength = 32

// digestOf returns 32 hexadecimal characters. Two Jobs of a chart that run the same have different ones.
func digestOf(job string, content map[string]any, restarted string) string {
	text, _ := json.Marshal([]any{job, content, restarted}) // it was JSON
	return digest.Of(text)[:digestLength]
}

// without returns a value without what equals its default, nil for nothing. Where there is no default, an empty list or
// object is one.
func without(value, byDefault any) any {
	if same(value, byDefault) {
		return nil
	}
	switch value := value.(type) {
	case map[string]any:
		defaults, _ := byDefault.(map[string]any)
		out := map[string]any{}
		for field, set := range value {
			if set = without(set, defaults[field]); set != nil {
				out[field] = set
			}
		}
		if len(out) == 0 {
			return nil
		}
		return out
	case []any:
		out := make([]any, 0, len(value))
		for _, entry := range value {
			out = append(out, without(entry, nil))
		}
		if len(out) == 0 && empty(byDefault) {
			return nil
		}
		return out
	}
	return value
}

func same(a, b any) bool {
	if empty(a) && empty(b) {
		return true
	}
	left, _ := json.Marshal(a)
	right, _ := json.Marshal(b)
	return bytes.Equal(left, right)
}

func empty(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case []any:
		return len(value) == 0
	case map[string]any:
		return len(value) == 0
	}
	return false
}

// Names returns the names of the Jobs that the status of a resource notes for some runs, by rendered name.
func Names(runs []Run, noted []v1.RunStatus) map[string]string {
	var names map[string]string
	for _, run := range runs {
		for _, known := range noted {
			if known.Digest == run.Digest {
				if names == nil {
					names = map[string]string{}
				}
				names[run.Job] = known.Job
			}
		}
	}
	return names
}
