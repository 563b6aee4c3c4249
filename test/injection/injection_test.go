//go:build cluster

// Package injection proves that no text of a spec becomes more than a text. For each text that the schema of a custom
// resource definition knows, of Kubernetes' types too, and for each key of a map, it makes a spec in which that text
// matters, and puts there what means something to YAML, to templates, to shells and to Helm. It is rendered past the
// schema, so that only translator, templates and hooks interpret it: the objects and their fields must be those of a
// harmless word, with the text byte for byte wherever the word was; or the spec is refused, in one line that names
// the field.
package injection

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/injection/payloads"
)

const root = "../.."

// injected counts the renders with a payload, changed those of them that came out otherwise.
var injected, changed atomic.Int64

// TestMain says what was done after everything else.
func TestMain(m *testing.M) {
	code := m.Run()
	figures := fmt.Sprintf("injections=%d changed=%d", injected.Load(), changed.Load())
	fmt.Println("INJECTION " + figures)
	if err := files.Figures("SECURITY_FIGURES", figures); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func TestNoTextBecomesMoreThanAText(t *testing.T) {
	for _, k := range kinds(t) {
		t.Run(k.Kind, func(t *testing.T) {
			fields := map[string][]leaf{}
			for _, l := range k.leaves {
				fields[l.path[0].name] = append(fields[l.path[0].name], l)
			}
			for field, leaves := range fields {
				t.Run(field, func(t *testing.T) {
					t.Parallel()
					for _, l := range leaves {
						k.inject(t, l)
					}
				})
			}
		})
	}
}

// marker is a harmless word that no part of a chart has.
const marker = "zzmarkerzz"

// inject puts all payloads in the place of a leaf, one after the other.
func (k *kind) inject(t *testing.T, l leaf) {
	t.Helper()
	base, err := k.render(t, k.spec(t, l, marker))
	if err != nil || l.limited {
		k.refuses(t, l)
		return
	}
	if reflect.DeepEqual(replaced(base, "other"), replaced(base, "")) && !l.silent() {
		t.Errorf("%s arrives nowhere: give a base in which it matters in values.yaml", l)
	}
	k.try(t, l, func(result *render.Result, payload string) string {
		if got, want := replaced(result, ""), replaced(base, payload); !reflect.DeepEqual(got, want) {
			return cmp.Diff(want, got)
		}
		return ""
	})
}

// refuses puts payloads where only some texts will do: each is refused, or renders what one that will do renders.
func (k *kind) refuses(t *testing.T, l leaf) {
	t.Helper()
	var outlines []any
	for _, text := range l.sound {
		result, err := k.render(t, k.spec(t, l, text))
		if err != nil {
			t.Errorf("%s cannot be %v: %v", l, text, err)
			return
		}
		outlines = append(outlines, outline(result))
	}
	k.try(t, l, func(result *render.Result, _ string) string {
		got := outline(result)
		if !slices.ContainsFunc(outlines, func(want any) bool { return reflect.DeepEqual(got, want) }) {
			return cmp.Diff(outlines[0], got)
		}
		return ""
	})
}

// try puts each payload in the place of a leaf, and reports what is wrong with the refusal, or with the rendered
// objects.
func (k *kind) try(t *testing.T, l leaf, wrong func(result *render.Result, payload string) string) {
	t.Helper()
	for name, payload := range payloads.All {
		injected.Add(1)
		result, err := k.render(t, k.spec(t, l, payload))
		var problem string
		if err != nil {
			problem = unclean(err, l)
		} else {
			problem = wrong(result, payload)
		}
		if problem != "" {
			changed.Add(1)
			t.Errorf("%s in %s: %s", name, l, problem)
		}
	}
}
