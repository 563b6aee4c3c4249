package fleet

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Version is one version of something that requires new releases although no user changed anything: a Chart, or the Defaults of a namespace.
type Version interface {
	fmt.Stringer
	// id identifies a version.
	id() string
	// named reports whether a request to go on with a version, whatever happens, refers to this one.
	named(request string) bool
	// log returns keys and values for log lines.
	log() []any
}

// Gate holds back a version of a chart from the resources of one kind, or one of the defaults of a namespace from those of the namespace. It
// is safe for concurrent use.
type Gate struct {
	// Now returns the version in use. Results of reconciles that began with another one do not count.
	Now func() Version
	// Names lists all resources that the version is for.
	Names func() ([]types.NamespacedName, error)
	// MaxFailed is how many resources may not become ready with a chart before it is halted.
	MaxFailed int
	// Show publishes the progress of the chart; nil if it is not published.
	Show func(Progress)
	Log  logr.Logger

	mu     sync.Mutex
	now    Version // nil before the first one
	listed bool    // the resources that existed when the chart came are, or were, awaited
	// awaited are the resources for which the chart was not rendered yet.
	awaited map[types.NamespacedName]bool
	// standings are the standings that are not zero.
	standings map[types.NamespacedName]Standing
	numbers   numbers
	verdict   Verdict
	// text is the reason for holding the chart back; empty if it has to be composed.
	text  string
	asked string
	queue rolloutQueue
}

// numbers are the numbers of resources by standing.
type numbers struct{ waiting, unfit, failed int }

func (n *numbers) add(standing Standing, by int) {
	switch {
	case standing.Unfit:
		n.unfit += by
	case standing.Failed:
		n.failed += by
	case standing.Waits:
		n.waiting += by
	}
}

// Standing is how a resource fares with a chart. The zero value is that of a resource which has it, or which the gate does not concern.
type Standing struct {
	// Waits: it has the release of an earlier chart, and only the new one requires another.
	Waits bool
	// Unfit: the chart cannot be rendered for it, but an earlier one could.
	Unfit bool
	// Failed: the chart, and nothing else, changed it, and it does not become ready.
	Failed bool
}

// Progress is the progress of a chart in numbers of resources.
type Progress struct {
	// Waiting for their turn; Held is the number of those that wait because the chart is held back or halted.
	Waiting, Held int
	// Unfit and Failed as in Standing.
	Unfit, Failed int
}

// Hold is why a chart may not change a resource. The zero value permits it.
type Hold struct {
	Verdict Verdict
	// Message is the reason for people.
	Message string
}

// Closed reports whether the chart may not go on.
func (h Hold) Closed() bool { return h.Verdict != "" && h.Verdict != Open }

// Note records how a resource fares with a version, which was rendered for it.
func (g *Gate) Note(version Version, name types.NamespacedName, standing Standing) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.uses(version) {
		return
	}
	delete(g.awaited, name)
	g.put(name, standing)
	g.judge()
}

// Pass records that a resource need not be waited for, however the reconcile ended. Its standing is unchanged.
func (g *Gate) Pass(version Version, name types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.uses(version) && g.awaited[name] {
		delete(g.awaited, name)
		g.judge()
	}
}

// Forget drops a resource that no longer exists.
func (g *Gate) Forget(name types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.awaited, name)
	g.put(name, Standing{})
	g.judge()
}

// Hold returns why a version may not change resources that nothing else requires to change.
func (g *Gate) Hold(version Version) Hold {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.uses(version) {
		return Hold{Verdict: Trying}
	}
	if g.text == "" {
		g.text = g.message()
	}
	return Hold{Verdict: g.verdict, Message: g.text}
}

// Ask requests to go on with the chart named by a digest, or the beginning of one, whatever happens; "" requests nothing.
func (g *Gate) Ask(digest string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked != digest {
		g.asked = digest
		g.judge()
	}
}

// wakes sets the queue for resources that are held back, for when that changes.
func (g *Gate) wakes(queue rolloutQueue) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = queue
}

// uses reports whether a version is the one in use. If it is new, the results of the one before are dropped.
func (g *Gate) uses(version Version) bool {
	if g.Now().id() != version.id() {
		return false
	}
	if g.now == nil || g.now.id() != version.id() {
		g.now, g.listed, g.verdict, g.numbers, g.text = version, false, Trying, numbers{}, ""
		g.awaited, g.standings = map[types.NamespacedName]bool{}, map[types.NamespacedName]Standing{}
	}
	if !g.listed {
		names, err := g.Names()
		if err != nil {
			g.Log.Error(err, "cannot list the resources that a new chart is tried on")
			return true
		}
		for _, name := range names {
			g.awaited[name] = true
		}
		g.listed = true
	}
	return true
}

// put records how a resource fares.
func (g *Gate) put(name types.NamespacedName, standing Standing) {
	before := g.standings[name]
	if before == standing {
		return
	}
	g.numbers.add(before, -1)
	g.numbers.add(standing, 1)
	if before.Unfit != standing.Unfit || before.Failed != standing.Failed {
		g.text = ""
	}
	if standing == (Standing{}) {
		delete(g.standings, name)
	} else {
		g.standings[name] = standing
	}
}

// judge updates the verdict on the chart, and requeues the resources that are affected.
func (g *Gate) judge() {
	if g.now == nil {
		return // nothing came yet
	}
	facts := Facts{
		Awaited: len(g.awaited), Unfit: g.numbers.unfit, Failed: g.numbers.failed, MaxFailed: g.MaxFailed, Asked: g.now.named(g.asked), Before: g.verdict,
	}
	if !g.listed {
		facts.Awaited++
	}
	before := g.verdict
	g.verdict = Judge(facts)
	g.show()
	if g.verdict == before {
		return
	}
	g.text = ""
	if g.numbers.waiting+g.numbers.unfit > 0 {
		g.tell()
	}
	for name, standing := range g.standings {
		if g.queue != nil && (standing.Waits || standing.Unfit) {
			g.queue.Add(reconcile.Request{NamespacedName: name})
		}
	}
}

func (g *Gate) show() {
	if g.Show == nil {
		return
	}
	progress := Progress{Unfit: g.numbers.unfit, Failed: g.numbers.failed, Waiting: g.numbers.waiting}
	if g.verdict == Refused || g.verdict == Halted {
		progress.Waiting, progress.Held = 0, g.numbers.waiting
	}
	g.Show(progress)
}

// tell logs the verdict.
func (g *Gate) tell() {
	log := g.Log.WithValues(g.now.log()...).WithValues("waiting", g.numbers.waiting)
	what := "chart"
	if _, is := g.now.(Defaults); is {
		what = "change of defaults"
	}
	switch g.verdict {
	case Refused:
		log.Info(what+" held back: it cannot be rendered for some resources", "resources", some(g.unfit()))
	case Halted:
		log.Info(what+" halted: resources do not become ready with it", "resources", some(g.failed()))
	case Open:
		log.Info(what+" goes on", "leftOut", g.numbers.unfit)
	}
}

// message returns why the chart is held back.
func (g *Gate) message() string {
	switch g.verdict {
	case Refused:
		return fmt.Sprintf("%s is held back, because it cannot be rendered for %s", g.now, some(g.unfit()))
	case Halted:
		return fmt.Sprintf("%s is halted, because %s did not become ready with it", g.now, some(g.failed()))
	}
	return ""
}

func (g *Gate) unfit() []string { return g.which(func(s Standing) bool { return s.Unfit }) }

func (g *Gate) failed() []string { return g.which(func(s Standing) bool { return s.Failed }) }

func (g *Gate) which(is func(Standing) bool) []string {
	var names []string
	for name, standing := range g.standings {
		if is(standing) {
			names = append(names, name.String())
		}
	}
	slices.Sort(names)
	return names
}

// named is how many resources a message names.
const named = 3

// some lists a few names and counts the rest.
func some(names []string) string {
	if more := len(names) - named; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), more)
	}
	return strings.Join(names, ", ")
}
