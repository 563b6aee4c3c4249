package livestate

import (
	"fmt"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/internal/engine/kube"
)

const me types.UID = "owner"

// version is one version of a ConfigMap called web.
func version(uid types.UID, resourceVersion string) *unstructured.Unstructured {
	o := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap"}}
	o.SetNamespace("demo")
	o.SetName("web")
	o.SetUID(uid)
	o.SetResourceVersion(resourceVersion)
	return o
}

// shows tells what a journal makes of what an informer shows.
func shows(j *Journal, shown ...client.Object) string {
	objects := map[kube.Key]client.Object{}
	for _, object := range shown {
		objects[kube.KeyOf(object)] = object
	}
	overlay(j.entriesOf(me), objects)
	switch len(objects) {
	case 0:
		return "nothing"
	case 1:
		object := objects[kube.KeyOf(version("", ""))]
		return fmt.Sprintf("%s at %s", object.GetUID(), object.GetResourceVersion())
	}
	return fmt.Sprintf("%d objects", len(objects))
}

func TestJournalCorrectsWhatTheInformerShows(t *testing.T) {
	wrote := func(uid types.UID, resourceVersion string) func(*Journal) {
		return func(j *Journal) { j.Wrote(me, version(uid, resourceVersion)) }
	}
	deleted := func(uid types.UID) func(*Journal) {
		return func(j *Journal) { j.Deleted(me, version(uid, "9")) }
	}
	cases := map[string]struct {
		noted []func(*Journal)
		shown client.Object // nil for nothing
		want  string
	}{
		"nothing is noted and nothing shown":                  {want: "nothing"},
		"nothing is noted":                                    {shown: version("a", "5"), want: "a at 5"},
		"the informer lacks what was written":                 {noted: []func(*Journal){wrote("a", "10")}, want: "a at 10"},
		"the informer shows an older version":                 {noted: []func(*Journal){wrote("a", "10")}, shown: version("a", "9"), want: "a at 10"},
		"the informer shows a version of fewer digits":        {noted: []func(*Journal){wrote("a", "1000")}, shown: version("a", "999"), want: "a at 1000"},
		"the informer shows what was written":                 {noted: []func(*Journal){wrote("a", "10")}, shown: version("a", "10"), want: "a at 10"},
		"the informer shows a newer version":                  {noted: []func(*Journal){wrote("a", "10")}, shown: version("a", "11"), want: "a at 11"},
		"the informer shows what the write replaced":          {noted: []func(*Journal){wrote("b", "10")}, shown: version("a", "8"), want: "b at 10"},
		"the informer shows what replaced the written object": {noted: []func(*Journal){wrote("a", "10")}, shown: version("b", "12"), want: "b at 12"},
		"the last of two writes counts":                       {noted: []func(*Journal){wrote("a", "10"), wrote("a", "12")}, shown: version("a", "10"), want: "a at 12"},
		"the informer still shows what was deleted":           {noted: []func(*Journal){deleted("a")}, shown: version("a", "8"), want: "nothing"},
		"the informer shows what was deleted no longer":       {noted: []func(*Journal){deleted("a")}, want: "nothing"},
		"the informer shows what came after the deleted one":  {noted: []func(*Journal){deleted("a")}, shown: version("b", "12"), want: "b at 12"},
		"what was written was then deleted":                   {noted: []func(*Journal){wrote("a", "10"), deleted("a")}, shown: version("a", "10"), want: "nothing"},
		"what was deleted was then written again":             {noted: []func(*Journal){deleted("a"), wrote("b", "12")}, shown: version("a", "8"), want: "b at 12"},
		"the version written cannot be compared":              {noted: []func(*Journal){wrote("a", "x")}, shown: version("a", "9"), want: "a at 9"},
		"the version shown cannot be compared":                {noted: []func(*Journal){wrote("a", "10")}, shown: version("a", ""), want: "a at "},
		"the write was for another owner": {
			noted: []func(*Journal){func(j *Journal) { j.Wrote("other", version("a", "10")) }}, shown: version("a", "9"), want: "a at 9",
		},
		"the owner was forgotten": {
			noted: []func(*Journal){wrote("a", "10"), func(j *Journal) { j.Forget(me) }}, shown: version("a", "9"), want: "a at 9",
		},
		"another owner was forgotten": {
			noted: []func(*Journal){wrote("a", "10"), func(j *Journal) { j.Forget("other") }}, shown: version("a", "9"), want: "a at 10",
		},
		"an owner is forgotten of whom nothing is known": {
			noted: []func(*Journal){func(j *Journal) { j.Forget(me) }}, want: "nothing",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			journal := &Journal{}
			for _, note := range test.noted {
				note(journal)
			}
			var shown []client.Object
			if test.shown != nil {
				shown = append(shown, test.shown)
			}
			if got := shows(journal, shown...); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestJournalTellsEchoesFromNews(t *testing.T) {
	type event struct {
		uid             types.UID
		resourceVersion string
		deleted         bool
	}
	wrote := func(j *Journal) { j.Wrote(me, version("a", "10")) }
	removed := func(j *Journal) { j.Deleted(me, version("a", "9")) }
	none := func(*Journal) {}
	cases := map[string]struct {
		noted func(*Journal)
		event event
		echo  bool
		// still reports whether the journal continues correcting an informer that lags behind.
		still bool
	}{
		"nothing is noted": {none, event{"a", "10", false}, false, false},

		"the write itself":                                        {wrote, event{"a", "10", false}, true, false},
		"a version from before the write":                         {wrote, event{"a", "9", false}, true, true},
		"a version from after the write":                          {wrote, event{"a", "11", false}, false, false},
		"what the write replaced":                                 {wrote, event{"z", "8", false}, true, true},
		"what replaced the written object":                        {wrote, event{"b", "12", false}, false, false},
		"the written object is deleted":                           {wrote, event{"a", "11", true}, false, false},
		"the written object is deleted, its last version unknown": {wrote, event{"a", "9", true}, false, false},
		"what the write replaced is deleted":                      {wrote, event{"z", "9", true}, false, true},
		"what replaced the written object is deleted":             {wrote, event{"b", "13", true}, false, false},
		"a version that cannot be compared":                       {wrote, event{"a", "x", false}, false, false},

		"the delete itself":                       {removed, event{"a", "11", true}, true, false},
		"a version from before the delete":        {removed, event{"a", "8", false}, false, true},
		"the deleted object, waiting for its end": {removed, event{"a", "11", false}, false, true},
		"what came after the deleted object":      {removed, event{"b", "12", false}, false, false},
		"what came after it is deleted":           {removed, event{"b", "13", true}, false, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			journal := &Journal{}
			test.noted(journal)
			if got := journal.Seen(me, version(test.event.uid, test.event.resourceVersion), test.event.deleted); got != test.echo {
				t.Errorf("echo: got %t, want %t", got, test.echo)
			}
			if still := shows(journal, version("a", "7")) != "a at 7"; still != test.still {
				t.Errorf("the journal still corrects: %t, want %t", still, test.still)
			}
		})
	}
}

// An object that was deleted and is held by a finalizer is there: nothing can be created in its place.
func TestADeletedObjectThatWaitsForItsEndIsShown(t *testing.T) {
	going := version("a", "11")
	now := metav1.Now()
	going.SetDeletionTimestamp(&now)
	for name, seen := range map[string]func(*Journal){
		"after its event":               func(j *Journal) { j.Deleted(me, version("a", "9")); j.Seen(me, going, false) },
		"before its event":              func(j *Journal) { j.Deleted(me, version("a", "9")) },
		"if the event came before that": func(j *Journal) { defer j.Begin(me)(); j.Seen(me, going, false); j.Deleted(me, version("a", "9")) },
	} {
		journal := &Journal{}
		seen(journal)
		if got := shows(journal, going); got != "a at 11" {
			t.Errorf("%s: it shows %s", name, got)
		}
	}
}

func TestAnEventIsNewsToEveryOwnerButTheWriter(t *testing.T) {
	journal := &Journal{}
	journal.Wrote(me, version("a", "10"))
	if journal.Seen("other", version("a", "10"), false) {
		t.Error("another owner's event was taken for an echo")
	}
	if got := shows(journal); got != "a at 10" {
		t.Errorf("got %s: another owner's event was taken for the writer's", got)
	}
}

func TestAnEchoIsTakenOnce(t *testing.T) {
	journal := &Journal{}
	journal.Wrote(me, version("a", "10"))
	if !journal.Seen(me, version("a", "10"), false) {
		t.Error("the write was not known")
	}
	if journal.Seen(me, version("a", "10"), false) {
		t.Error("the journal kept what the informer has shown")
	}
}

// The event of a write may come before the writer has noted it.
func TestAWriteIsNotedAfterItsEvent(t *testing.T) {
	journal := &Journal{}
	if journal.Seen(me, version("a", "10"), false) {
		t.Error("the event was taken for an echo")
	}
	journal.Wrote(me, version("a", "10"))
	if got := shows(journal, version("a", "10")); got != "a at 10" {
		t.Errorf("got %s", got)
	}
	if journal.Seen(me, version("a", "11"), false) {
		t.Error("somebody else's write was taken for an echo")
	}
	if got := shows(journal); got != "nothing" {
		t.Errorf("got %s, want nothing: the informer has shown more than was written", got)
	}
}

// An event that comes before the write is noted may say more than the write.
func TestWhatEventsToldDuringAnActionIsNotNoted(t *testing.T) {
	wrote := func(j *Journal) { j.Wrote(me, version("a", "10")) }
	deleted := func(j *Journal) { j.Deleted(me, version("a", "9")) }
	cases := map[string]struct {
		event event
		note  func(*Journal)
		noted bool
	}{
		"the write itself":            {event{version("a", "10"), false}, wrote, false},
		"a later version":             {event{version("a", "11"), false}, wrote, false},
		"an earlier write":            {event{version("a", "9"), false}, wrote, true},
		"what was written is deleted": {event{version("a", "11"), true}, wrote, false},
		"what was written is deleted, told in the same version":   {event{version("a", "10"), true}, wrote, false},
		"what was written is deleted, told in an older version":   {event{version("a", "9"), true}, wrote, false},
		"what was there before is deleted":                        {event{version("z", "9"), true}, wrote, true},
		"what came after the written one":                         {event{version("b", "12"), false}, wrote, false},
		"what came after the written one is deleted":              {event{version("b", "13"), true}, wrote, false},
		"a version that cannot be compared":                       {event{version("a", "x"), false}, wrote, false},
		"the delete itself":                                       {event{version("a", "10"), true}, deleted, false},
		"the deleted object waits for its end":                    {event{version("a", "10"), false}, deleted, true},
		"what was there before the deleted one is itself deleted": {event{version("z", "8"), true}, deleted, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			journal := &Journal{}
			end := journal.Begin(me)
			journal.Seen(me, test.event.object, test.event.deleted)
			test.note(journal)
			end()
			if got := len(journal.entriesOf(me)) == 1; got != test.noted {
				t.Errorf("the write is noted: %t, want %t", got, test.noted)
			}
			if len(journal.events) != 0 {
				t.Error("events are remembered after the end of the action")
			}
		})
	}
}

func TestJournalIsSafeForConcurrentUse(t *testing.T) {
	journal := &Journal{}
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 200 {
				o := version("a", fmt.Sprint(worker*1000+i))
				switch i % 6 {
				case 0:
					journal.Wrote(me, o)
				case 1:
					journal.Deleted(me, o)
				case 2:
					journal.Seen(me, o, i%2 == 0)
				case 3:
					shows(journal, o)
				case 4:
					journal.Forget(me)
				case 5:
					journal.Begin(me)()
				}
			}
		})
	}
	group.Wait()
}
