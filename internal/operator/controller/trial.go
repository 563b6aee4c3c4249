package controller

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/digest"
)

// trial identifies an attempt: a spec, a request to restart and, if they are new, the other inputs of the rendering.
type trial struct {
	generation, request string
	// spec is the digest of the spec without its size, which is no cause of a failure; empty if it is not known.
	spec string
	// basis identifies the other inputs; empty if they are not new.
	basis string
}

// specMark begins the part of a label that is the digest of a spec; the others are hexadecimal or decimal.
const specMark = "s"

// trial returns the trial of this reconcile. Rest says that the other inputs are new.
func (s *scope) trial(rest bool) trial {
	spec, _ := s.resource.Object["spec"].(map[string]any)
	spec = maps.Clone(spec)
	delete(spec, "size")
	text, _ := json.Marshal(spec) // it came as JSON
	tried := trial{generation: strconv.FormatInt(s.resource.GetGeneration(), 10), spec: digest.Of(text)[:15],
		request: digest.Of([]byte(s.resource.GetAnnotations()[v1.AnnotationRestartedAt]))[:8]}
	if rest {
		tried.basis = s.basis.ID()
	}
	return tried
}

// String formats a trial for parseTrial. It fits into a label.
func (t trial) String() string {
	parts := []string{t.generation, t.request, specMark + t.spec, t.basis}
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" || part == specMark }), ".")
}

// parseTrial parses the output of String, of this operator or of an earlier one, which did not know specs.
func parseTrial(text string) (tried trial) {
	for i, part := range strings.Split(text, ".") {
		digest, isSpec := strings.CutPrefix(part, specMark)
		switch {
		case i == 0:
			tried.generation = part
		case i == 1:
			tried.request = part
		case isSpec:
			tried.spec = digest
		default:
			tried.basis = part
		}
	}
	return tried
}

// hasTried reports whether the spec, in any size, is that of an earlier trial.
func (s *scope) hasTried(earlier trial) bool {
	now := s.trial(true)
	return earlier.generation == now.generation || earlier.spec == now.spec
}

// triesAgain reports whether nothing else is tried than in an earlier trial.
func (s *scope) triesAgain(earlier trial) bool {
	now := s.trial(true)
	return s.hasTried(earlier) && earlier.request == now.request && (earlier.basis == "" || earlier.basis == now.basis)
}
