//go:build cluster

package security

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// vector is one attempt of a tenant.
type vector struct {
	// prepare creates objects of an administrator or of another tenant first. nil for nothing.
	prepare func(s *scene)
	// may are further rights of the tenant in his namespace.
	may []rbacv1.PolicyRule
	// does is the attempt; the error is the refusal of the API server.
	does func(s *scene) error
	// harm returns nil once the tenant has what he wants, else an error that says what he has instead.
	harm func(s *scene) error

	// guard is what blocks it, in words.
	guard string
	// reason is that of the condition Ready of AppService app by which the operator refuses; empty if the API server refuses.
	reason string
	// words are parts of the refusal.
	words []string
	// seen returns nil once the operator has processed the attempt, if nothing is refused.
	seen func(s *scene) error

	// job says that the attempt is AppJob app.
	job bool
	// shared says that the guard is a rule of the built-in policy shared, which open does not have.
	shared bool
	// label is one of the tenant's namespace by which the policy is stricter there; empty for none.
	label string

	// level is the Pod Security level that the namespace enforces while the guards are on; empty for none.
	level string
	// rule says that the guard is a rule of the CRD, and that all rules are removed to switch it off.
	rule bool
	// off switches off a guard that no label of a namespace switches off; nil for none.
	off func(s *scene)
	// fixed says, in a sentence, why the guard has no switch.
	fixed string
}

// vectors are known by the attempt, in a plain sentence.
type vectors map[string]vector

var table = vectors{}

// register adds the vectors of a file, and reports whether there are any.
func register(more vectors) bool { //nolint:unparam // it is called by a variable without a name
	for name, v := range more {
		if _, there := table[name]; there {
			panic(fmt.Sprintf("two vectors are called %q", name))
		}
		table[name] = v
	}
	return len(more) > 0
}

func (all vectors) names() []string { return slices.Sorted(maps.Keys(all)) }

func TestVectors(t *testing.T) {
	replaceCRD(t, shippedCRD(t), false) // a killed run may have left it without rules
	installAdmission(t)
	installPublished(t)
	for _, kind := range []string{"httproutes", "listenersets"} {
		cluster.Install(t, files.CRD(t, "test/testdata/fixtures/crds/gateway.networking.k8s.io_"+kind+".yaml"))
	}
	startOperator(t)
	cluster.CollectsGarbage(t)
	t.Run("as shipped", func(t *testing.T) {
		for _, name := range table.names() {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				tally.begin(name)
				table[name].blocked(newScene(t, table[name], guardsOnIn))
				tally.note(t, name, guarded)
			})
		}
	})
	t.Run("with the policy open", func(t *testing.T) {
		for _, name := range table.names() {
			if v := table[name]; !v.shared {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					v.blocked(newScene(t, v, openIn))
					tally.note(t, name, guardedIfOpen)
				})
			}
		}
	})
	t.Run("with its guard off", func(t *testing.T) {
		for _, name := range table.names() {
			if v := table[name]; !v.rule {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					v.succeeds(t)
					tally.note(t, name, succeeded)
				})
			}
		}
	})
	t.Run("with a CRD without rules", func(t *testing.T) {
		withoutRules(t)
		for _, name := range table.names() {
			if v := table[name]; v.rule {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					v.succeeds(t)
					tally.note(t, name, succeeded)
				})
			}
		}
	})
}

// blocked has the tenant try it and checks that it does not succeed.
func (v vector) blocked(s *scene) {
	s.Helper()
	require.NotEmpty(s, v.guard, "the vector does not say what guards")
	refusal := ""
	switch err := v.does(s); {
	case err != nil && !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err):
		s.Fatalf("it fails, but is not refused: %v", err)
	case err != nil && (v.reason != "" || v.seen != nil):
		s.Fatalf("the API server refuses what it should take: %v", err)
	case err != nil:
		refusal = err.Error()
	case v.reason != "":
		refusal = s.refusal(v)
	case v.seen != nil:
		harness.Eventually(s.T, "the operator has dealt with it", func() error { return v.seen(s) })
	default:
		s.Error("nobody refuses it")
	}
	if refusal != "" {
		s.Logf("refused: %s", refusal)
	}
	for _, word := range v.words {
		assert.Contains(s, refusal, s.words(word), "the refusal lacks %q: %s", s.words(word), refusal)
	}
	assert.NotNil(s, v.harm(s), "the tenant has what he wants")
}

// succeeds has the tenant try it with the guard off.
func (v vector) succeeds(t *testing.T) {
	if v.fixed != "" {
		t.Logf("no switch: %s", v.fixed)
		return
	}
	s := newScene(t, v, guardsOffIn)
	if v.off != nil {
		v.off(s)
	}
	require.NoError(t, v.does(s), "something else than its guard stops it")
	harness.Eventually(t, "the tenant has what he wants", func() error {
		if err := v.harm(s); err != nil {
			return fmt.Errorf("%w; %s", err, s.standing())
		}
		return nil
	})
}
