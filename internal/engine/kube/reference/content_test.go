package reference

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/util/validation"
)

func TestContent(t *testing.T) {
	a, b := Object{Kind: ConfigMap, Name: "a"}, Object{Kind: Secret, Name: "b"}
	references := []Reference{{Object: a, Content: true}, {Object: b, Key: "k", Content: true}}
	states := func(change func(map[Object]State)) map[Object]State {
		all := map[Object]State{
			a: {Found: true, Version: "a/1", Data: map[string]string{"x": "1", "y": "2"}},
			b: {Found: true, Version: "b/1", Data: map[string]string{"k": "1", "other": "1"}},
		}
		if change != nil {
			change(all)
		}
		return all
	}
	set := func(o Object, version, key, value string) func(map[Object]State) {
		return func(s map[Object]State) {
			state := s[o]
			state.Version, state.Data[key] = version, value
			s[o] = state
		}
	}
	before := ContentOf(references, states(nil))
	cases := map[string]struct {
		change func(map[Object]State)
		rolls  bool
	}{
		"nothing":                         {nil, false},
		"an entry of all that is taken":   {set(a, "a/2", "x", "9"), true},
		"an entry more":                   {set(a, "a/2", "z", "9"), true},
		"the key that is taken":           {set(b, "b/2", "k", "9"), true},
		"a key that nobody takes":         {set(b, "b/2", "other", "9"), false},
		"the version alone":               {set(b, "b/2", "k", "1"), false},
		"an object goes":                  {func(s map[Object]State) { s[a] = State{} }, true},
		"an empty object takes its place": {func(s map[Object]State) { s[a] = State{Found: true, Version: "c/2"} }, true},
		"two entries change places": {func(s map[Object]State) {
			s[a] = State{Found: true, Version: "a/2", Data: map[string]string{"x": "2", "y": "1"}}
		}, true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			after := ContentOf(references, states(test.change)).After(before)
			assert.Equal(t, test.rolls, after.Version != before.Version, "the pods roll")
			if read := ParseContent(after.String()); read != after {
				t.Errorf("got %v from a label that was made of %v", read, after)
			}
		})
	}
	if got := ContentOf([]Reference{{Object: a}}, states(nil)); got != (Content{}) || got.String() != "" {
		t.Errorf("got %v for references without content, want none", got)
	}
	if problems := validation.IsValidLabelValue(before.String()); len(problems) > 0 {
		t.Errorf("%s cannot be the value of a label: %v", before, problems)
	}
}

// Whoever may read pods must not learn from them whether a value is one that they guess, or one that it was before, or one that is someone
// else's.
func TestTheVersionOfContentSaysNothingOfIt(t *testing.T) {
	secret := Object{Kind: Secret, Name: "s"}
	references := []Reference{{Object: secret, Content: true}}
	of := func(version, value string) Content {
		return ContentOf(references, map[Object]State{secret: {Found: true, Version: version, Data: map[string]string{"k": value}}})
	}
	first, second := of("u/1", "one"), of("u/2", "two")
	if restored := of("u/3", "one").After(second); restored.Version == first.Version || restored.Version == second.Version {
		t.Error("it shows that an earlier value is back")
	}
	if others := of("v/1", "one"); others.Version == first.Version {
		t.Error("it shows that somebody else has the same value")
	}
	if guess := of("u/1", "guess"); guess.Version != first.Version {
		t.Error("it depends on the value")
	}
}
