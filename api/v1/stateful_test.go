package v1_test

import (
	"strings"
	"testing"
)

func TestWhetherReplicasHaveVolumesOfTheirOwnCannotBeChanged(t *testing.T) {
	const (
		none, one, each, twice = `{image: a}`, `{image: a, persistence: {size: 1Gi, mountPath: /a}}`,
			`{image: a, persistence: {size: 1Gi, mountPath: /a, perReplica: true}}`, `{image: a, persistence: {size: 2Gi, mountPath: /a, perReplica: true}}`
		off = `{image: a, persistence: {size: 1Gi, mountPath: /a, perReplica: false}}`
	)
	a := newAdmission(t)
	for name, test := range map[string]struct {
		before, after string
		refused       bool
	}{
		"from one volume to one each":       {one, each, true},
		"from one each to one volume":       {each, one, true},
		"from none to one each":             {none, each, true},
		"from one each to none":             {each, none, true},
		"from no to one each":               {off, each, true},
		"from nothing said to no":           {one, off, false},
		"from none to one for all":          {none, one, false},
		"another size of one each":          {each, twice, false},
		"nothing changes where it is each":  {each, each, false},
		"nothing changes where nothing was": {none, none, false},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := named(t, "web", test.before), named(t, "web", test.after)
			switch err := a.Change(t.Context(), before, after).ToAggregate(); {
			case err == nil && test.refused:
				t.Error("it is accepted")
			case err != nil && (!test.refused || !strings.Contains(err.Error(), "docs/convert-workload.md is the recipe")):
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWhatNeedsVolumesPerReplica(t *testing.T) {
	a := newAdmission(t)
	for name, test := range map[string]struct{ accepted, refused, field string }{
		"order": {
			`{image: a, persistence: {size: 1Gi, mountPath: /a, perReplica: true, podManagementPolicy: Parallel}}`,
			`{image: a, persistence: {size: 1Gi, mountPath: /a, podManagementPolicy: Parallel}}`, "spec.persistence.podManagementPolicy needs spec.persistence.perReplica",
		},
		"name of an order": {
			`{image: a, persistence: {size: 1Gi, mountPath: /a, perReplica: true, podManagementPolicy: OrderedReady}}`,
			`{image: a, persistence: {size: 1Gi, mountPath: /a, perReplica: true, podManagementPolicy: Any}}`, "podManagementPolicy",
		},
		"claims of replicas that are scaled away": {
			`{image: a, persistence: {size: 1Gi, mountPath: /a, perReplica: true, whenScaled: Delete}}`,
			`{image: a, persistence: {size: 1Gi, mountPath: /a, perReplica: false, whenScaled: Delete}}`, "spec.persistence.whenScaled needs spec.persistence.perReplica",
		},
		"strategy of a Deployment": {
			`{image: a, strategy: {type: Recreate}, persistence: {size: 1Gi, mountPath: /a}}`,
			`{image: a, strategy: {type: Recreate}, persistence: {size: 1Gi, mountPath: /a, perReplica: true}}`, "spec.strategy has no effect with spec.persistence.perReplica",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, _, err := a.admit(t, named(t, "web", test.accepted)); err != nil {
				t.Errorf("%s: %v", test.accepted, err)
			}
			if _, _, err := a.admit(t, named(t, "web", test.refused)); err == nil || !strings.Contains(err.Error(), test.field) {
				t.Errorf("%s: got %v, want in it %s", test.refused, err, test.field)
			}
		})
	}
}
