//go:build cluster

// Package contract proves that each field of an AppService's spec does something, that the chart has no values that do
// nothing, and that all that is rendered on the way is valid, the same each time, and selects the same pods.
//
// It walks the CRD's schema. For each field of ours, types of Kubernetes' taken as a whole, it makes a spec without the
// field and specs with it, has the operator render them, and compares. What to set is made up from the schema; values.yaml
// says it where that does not do, exceptions.yaml names what the rules do not hold for, and why. No cluster is needed.
package contract

import (
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	v1 "github.com/example/appservice-operator/api/v1"
)

var update = flag.Bool("update", false, "write docs/reference/fields.md")

// surveyed is the survey, carried out when it is first asked for.
var surveyed = sync.OnceValues(conduct)

// TestMain prints the summary after everything else. (go test prints one more line; the test binary does not.)
func TestMain(m *testing.M) {
	code := m.Run()
	if s, err := surveyed(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	} else {
		fmt.Println(s.summary())
	}
	os.Exit(code)
}

func mustSurvey(t *testing.T) *survey {
	t.Helper()
	s, err := surveyed()
	require.NoError(t, err)
	return s
}

func TestContractFields(t *testing.T) {
	for _, r := range mustSurvey(t).fields {
		t.Run(r.path, func(t *testing.T) {
			assert.Nil(t, r.err, "spec.%s: %v", r.path, r.err)
		})
	}
}

func TestContractValues(t *testing.T) {
	for _, r := range mustSurvey(t).values {
		t.Run(r.path, func(t *testing.T) {
			assert.Nil(t, r.err, "value %s: %v", r.path, r.err)
		})
	}
}

func TestContractTablesAreNotStale(t *testing.T) {
	for _, text := range mustSurvey(t).stale {
		t.Error(text)
	}
}

// TestContractCRDHasTheDeclaredFields compares the fields that the survey found with those that the Go types and the chart declare.
func TestContractCRDHasTheDeclaredFields(t *testing.T) {
	var got []string
	for _, r := range mustSurvey(t).fields {
		got = append(got, r.path)
	}
	want := declared("", reflect.TypeFor[v1.AppServiceSpec]())
	if chart := mustSurvey(t).chart; chart != nil {
		want = append(want, declaredByChart("", chart.Spec)...)
	}
	for _, path := range want {
		if !slices.Contains(got, path) {
			t.Errorf("the CRD does not have field %s of api/v1 or fields.yaml as one of ours: give it a comment, and run make generate", path)
		}
	}
	for _, path := range got {
		assert.Contains(t, want, path, "neither api/v1 nor fields.yaml declares field %s of the CRD: run make generate", path)
	}
}
