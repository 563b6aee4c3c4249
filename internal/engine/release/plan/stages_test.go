package plan

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/stage"
)

// staged is a ConfigMap of a stage.
func staged(t *testing.T, name, stamp string, of stage.Stage) *unstructured.Unstructured {
	t.Helper()
	object := owned(t, "ConfigMap", name, stamp)
	put(t, object, string(of), "metadata", "annotations", v1.AnnotationStage)
	return object
}

// releaseInStages is a plan that creates and changes an object of each stage, and deletes one.
func releaseInStages(t *testing.T) *Plan {
	t.Helper()
	rendered := []*unstructured.Unstructured{
		staged(t, "new-before", "two", stage.Before), staged(t, "before", "two", stage.Before),
		staged(t, "new-early", "two", stage.Early), staged(t, "early", "two", stage.Early),
		owned(t, "ConfigMap", "new", "two"), owned(t, "ConfigMap", "main", "two"), staged(t, "after", "two", stage.After),
	}
	return Compare(rendered, there(staged(t, "before", "one", stage.Before), staged(t, "early", "one", stage.Early),
		owned(t, "ConfigMap", "main", "one"), owned(t, "ConfigMap", "old", "one")))
}

func configs(t *testing.T, names ...string) []kube.Key {
	t.Helper()
	var keys []kube.Key
	for _, name := range names {
		keys = append(keys, kube.KeyOf(owned(t, "ConfigMap", name, "")))
	}
	return keys
}

// The stage before is written, what it needs is only created, and nothing that runs is changed or deleted.
func TestThePartOfAPlanThatTheStageBeforeNeeds(t *testing.T) {
	write, create := configs(t, "new-before", "before"), configs(t, "new-early", "early")
	for name, test := range map[string]struct {
		write, create []kube.Key
		want          string
	}{
		"the stage and what it needs": {write, create, "create ConfigMap new-before; create ConfigMap new-early; apply ConfigMap before"},
		"the stage alone":             {write, nil, "create ConfigMap new-before; apply ConfigMap before"},
		"nothing":                     {nil, nil, ""},
		"what is not in the plan":     {configs(t, "elsewhere"), configs(t, "old"), ""},
	} {
		whole := releaseInStages(t)
		before := whole.String()
		if got := whole.Only(test.write, test.create).String(); got != test.want {
			t.Errorf("%s: got %q, want %q", name, got, test.want)
		}
		if whole.String() != before {
			t.Errorf("%s: the whole plan became %q", name, whole)
		}
	}
}

func TestWhatAPlanTouches(t *testing.T) {
	plan := releaseInStages(t)
	going := owned(t, "ConfigMap", "going", "one")
	now := metav1.Now()
	going.SetDeletionTimestamp(&now)
	plan.Terminating = []client.Object{going}
	for name, want := range map[string]bool{"new": true, "main": true, "after": true, "going": true, "old": false, "elsewhere": false} {
		if got := plan.Touches(configs(t, name)[0]); got != want {
			t.Errorf("that it touches %s is %t", name, got)
		}
	}
}

// Writes of a release before it changes anything that runs do not supersede the recorded one: that is kept completely, so that a task may
// fail.
func TestTheStageBeforeSupersedesNothing(t *testing.T) {
	before := staged(t, "task", "one", stage.Before)
	recorded := []*unstructured.Unstructured{owned(t, "ConfigMap", "web", "one"), owned(t, "ServiceAccount", "web", "one"), before}
	account := func(stamp string) *unstructured.Unstructured {
		object := owned(t, "ServiceAccount", "web", stamp)
		put(t, object, string(stage.Early), "metadata", "annotations", v1.AnnotationStage)
		return object
	}
	const repaired = "create ConfigMap web"
	for name, test := range map[string]struct {
		live []client.Object
		plan string
	}{
		"its stage before is changed":        {[]client.Object{recorded[1], staged(t, "task", "two", stage.Before)}, repaired},
		"it has another object before":       {[]client.Object{recorded[1], before, staged(t, "files", "two", stage.Before)}, repaired},
		"what it needs was created":          {[]client.Object{recorded[1], before, staged(t, "early", "two", stage.Early)}, repaired},
		"what it needs, and was, is changed": {[]client.Object{account("two"), before}, ""},
		"the main stage has begun":           {[]client.Object{recorded[1], before, owned(t, "ConfigMap", "more", "two")}, ""},
		"the stage after has begun":          {[]client.Object{recorded[1], before, staged(t, "smoke", "two", stage.After)}, ""},
	} {
		if plan, _ := CompareLastGood(recorded, there(test.live...)); plan.String() != test.plan {
			t.Errorf("%s: got %q, want %q", name, plan, test.plan)
		}
	}
}

func TestWhetherAnObjectIsAsItIsRendered(t *testing.T) {
	rendered := owned(t, "ConfigMap", "web", "one")
	for name, test := range map[string]struct {
		live client.Object
		want bool
	}{
		"the same stamp": {owned(t, "ConfigMap", "web", "one"), true}, "another one": {owned(t, "ConfigMap", "web", "two"), false}, "it is missing": {nil, false},
	} {
		if got := SameStamp(rendered, test.live); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
