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

// Version is one version of what asks for other releases although no user changed anything: a Chart, or the Defaults of a namespace.
type Version interface {
	fmt.Stringer
	// id identifies a version.
	id() string
	// named reports whether a request to go on with a version, whatever happens, means this one.
	named(request string) bool
	// log are keys and values for lines of the log.
	log() []any
}

// Gate holds a version of a chart back from the resources of one kind, or one of the defaults of a namespace from those of the namespace. It
// is safe for concurrent use.
type Gate struct {
	// Now returns the version in use. What reconciles that began with another one find out does not count.
	Now func() Version
	// Names lists all resources that the version is for.
	Names func() ([]types.NamespacedName, error)
	// MaxFailed is how many resources may not become ready with a chart before it is halted.
	MaxFailed int
	// Show shows how far the chart came; nil if that is not shown.
	Show func(Progress)
	Log  logr.Logger

	mu     sync.Mutex
	now    Version // nil before the first one
	listed bool    // those that were there when the chart came are, or were, awaited
	// awaited are the resources that the chart was not rendered for yet.
	awaited map[types.NamespacedName]bool
	// standings are those of resources that have something to say.
	standings map[types.NamespacedName]Standing
	numbers   numbers
	verdict   Verdict
	// text says why the chart is held back; empty if it has to be put together.
	text  string
	asked string
	queue rolloutQueue
}

// numbers are how many resources stand how.
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

// Standing is how a resource stands with a chart. The zero value is that of one which has it, or which the gate has nothing to do with.
type Standing struct {
	// Waits: it has the release of an earlier chart, and only the new one asks for another.
	Waits bool
	// Unfit: the chart cannot be rendered for it, and an earlier one was.
	Unfit bool
	// Failed: the chart, and nothing else, changed it, and it does not become ready.
	Failed bool
}

// Progress is how far a chart came: numbers of resources.
type Progress struct {
	// Waiting for their turn; of those that wait because the chart is held back or halted, Held is the number.
	Waiting, Held int
	// Unfit and Failed as in Standing.
	Unfit, Failed int
}

// Hold is why a chart may not go on to a resource. The zero value lets it.
type Hold struct {
	Verdict Verdict
	// Message says it to people.
	Message string
}

// Closed reports whether the chart may not go on.
func (h Hold) Closed() bool { return h.Verdict != "" && h.Verdict != Open }

// Note notes how a resource stands with a version, which was rendered for it.
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

// Pass notes that a resource needs not be waited for, whatever came of the reconcile. How it stands is as it was.
func (g *Gate) Pass(version Version, name types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.uses(version) && g.awaited[name] {
		delete(g.awaited, name)
		g.judge()
	}
}

// Forget drops a resource that is gone.
func (g *Gate) Forget(name types.NamespacedName) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.awaited, name)
	g.put(name, Standing{})
	g.judge()
}

// Hold returns why a version may not go on to resources that only it asks to change.
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

// Ask asks to go on with the chart that a digest, or the beginning of one, names, whatever happens; "" asks for nothing.
func (g *Gate) Ask(digest string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.asked != digest {
		g.asked = digest
		g.judge()
	}
}

// wakes notes the queue of resources that are held back, for when that changes.
func (g *Gate) wakes(queue rolloutQueue) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.queue = queue
}

// uses reports whether a version is the one in use. If it is new, what was found out about the one before no longer counts.
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

// put notes how a resource stands.
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

// judge finds out how far the chart may go now, and has those look again for whom that is news.
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

// tell writes a log line.
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

// message says why the chart is held back.
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

// some names a few and counts the rest.
func some(names []string) string {
	if more := len(names) - named; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:named], ", "), more)
	}
	return strings.Join(names, ", ")
}
