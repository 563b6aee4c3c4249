package charts

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/example/appservice-operator/internal/engine/render"
)

// classOf returns the reason that the status would have, or the type of an error.
func classOf(err error) string {
	if reasoned, is := errors.AsType[interface {
		error
		Reason() string
	}](err); is {
		return reasoned.Reason()
	}
	if _, is := errors.AsType[*render.SpecError](err); is {
		return "SpecError"
	}
	if _, is := errors.AsType[*render.ChartError](err); is {
		return "ChartError"
	}
	return fmt.Sprintf("%T", err)
}

func short(err error) string {
	return fmt.Sprintf("%s: %.150s", classOf(err), strings.Join(strings.Fields(err.Error()), " "))
}

// tally sums up several charts.
type tally struct {
	sync.Mutex
	charts, loaded, byDefault, withValue, refused, announced int

	sets, both, withLine, open, differ, refusedSets, reasons, silent int

	named, grounds, refusals map[string]int
}

func (a *tally) print() {
	list := func(counts map[string]int, format string) {
		for _, name := range slices.Sorted(maps.Keys(counts)) {
			fmt.Printf(format, counts[name], name)
		}
	}
	list(a.refusals, "REFUSED %d times %s\n")
	list(a.grounds, "GROUND %d refusals: %s\n")
	list(a.named, "REASON %d differences: %s\n")
	fmt.Printf("SETS sets=%d both=%d with_value=%d templates_in_spec=%d differ=%d refused=%d reasons=%d silent=%d\n", a.sets, a.both,
		a.withLine, a.open, a.differ, a.refusedSets, a.reasons, a.silent)
	fmt.Printf("CHARTS charts=%d loaded=%d default=%d value=%d refused=%d announced=%d silent=%d\n", a.charts, a.loaded, a.byDefault,
		a.withValue, a.refused, a.announced, a.silent)
}

// numbers matches what differs between messages about the same thing.
var numbers = regexp.MustCompile(`\d+`)

// add counts a chart, and returns its line, and its differences and refusals without a reason, with the sets that have
// them.
func (a *tally) add(name string, s *subject, knows known, outcomes []outcome) (line string, silent map[string][]string) {
	a.Lock()
	defer a.Unlock()
	silent = map[string][]string{}
	a.charts++
	if s.failed == nil {
		a.loaded++
	}
	var both, differ, refused, withLine int
	first := "none"
	for _, of := range outcomes {
		a.sets++
		if of.withValue {
			withLine++
		}
		if of.open {
			a.open++
		}
		if of.refused != nil {
			if refused++; refused == 1 {
				first = of.set + ": " + short(of.refused)
			}
			a.refusals[numbers.ReplaceAllString(short(of.refused), "N")]++
			ground := onWhatGround(of.refused)
			if ground == "" {
				silent["refused, "+of.refused.Error()] = append(silent["refused, "+of.refused.Error()], of.set)
				ground = "none"
			}
			a.grounds[ground]++
			continue
		}
		both++
		if len(of.differences) > 0 {
			differ++
		}
		for _, d := range of.differences {
			if reason := why(d); reason != "" {
				a.reasons++
				a.named[reason]++
				continue
			}
			a.silent++
			silent[d.String()] = append(silent[d.String()], of.set)
		}
	}
	a.both, a.differ, a.refusedSets, a.withLine = a.both+both, a.differ+differ, a.refusedSets+refused, a.withLine+withLine
	switch defaults := outcomes[0]; { // or the first set that Helm renders
	case defaults.refused != nil && knows.Announced != "":
		a.announced++
	case defaults.refused != nil:
		a.refused++
	case defaults.withValue:
		a.withValue++
	default:
		a.byDefault++
	}
	return fmt.Sprintf("CHART %s sets=%d both=%d differ=%d refused=%d first refusal %s", name, len(outcomes), both, differ, refused,
		first), silent
}
