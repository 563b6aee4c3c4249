package v1_test

import (
	"strings"
	"testing"
)

func TestWhatIsAdmittedOfAccess(t *testing.T) {
	names := func(count int) string {
		return "[" + strings.TrimSuffix(strings.Repeat("{namespace: a}, ", count), ", ") + "]"
	}
	tests := map[string]struct {
		spec    string // besides image and ports
		refused string // what the refusal says; empty if there is none
	}{
		"an AppService, a namespace and both":     {`access: {from: [{appService: shop}, {namespace: 1-team}, {appService: shop, namespace: team}]}`, ""},
		"nobody":                                  {`access: {from: [], to: []}`, ""},
		"from nobody without ports":               {`ports: [], access: {from: []}`, ""},
		"to somebody without ports":               {`ports: [], access: {to: [{appService: shop}]}`, ""},
		"from somebody without ports":             {`ports: [], access: {from: [{appService: shop}]}`, "spec.access.from needs at least one entry in spec.ports"},
		"neither from nor to":                     {`access: {}`, "spec.access needs from, to or both"},
		"an entry of nothing":                     {`access: {from: [{}]}`, "spec.access.from[] and spec.access.to[] need appService, namespace or both"},
		"an entry of nothing in to":               {`access: {to: [{namespace: a}, {}]}`, "spec.access.to[1]"},
		"an AppService without a name":            {`access: {from: [{appService: ""}]}`, "spec.access.from[0].appService"},
		"a name that no AppService has":           {`access: {from: [{appService: Shop}]}`, "spec.access.from[0].appService"},
		"the longest name":                        {`access: {from: [{appService: ` + strings.Repeat("a", 53) + `}]}`, ""},
		"a name that is too long":                 {`access: {from: [{appService: ` + strings.Repeat("a", 54) + `}]}`, "spec.access.from[0].appService"},
		"the longest namespace":                   {`access: {to: [{namespace: ` + strings.Repeat("a", 63) + `}]}`, ""},
		"a namespace that is too long":            {`access: {to: [{namespace: ` + strings.Repeat("a", 64) + `}]}`, "spec.access.to[0].namespace"},
		"a namespace with another line":           {`access: {to: [{namespace: "a\n  b"}]}`, "spec.access.to[0].namespace"},
		"as many as there may be":                 {`access: {from: ` + names(64) + `}`, ""},
		"more than there may be":                  {`access: {from: ` + names(65) + `}`, "spec.access.from"},
		"more than there may be in to":            {`access: {to: ` + names(65) + `}`, "spec.access.to"},
		"beside a network policy":                 {`access: {from: []}, networkPolicy: {enabled: true}`, ""},
		"beside a network policy that is off":     {`access: {from: []}, networkPolicy: {enabled: false}`, "set spec.networkPolicy.enabled to true, or leave spec.networkPolicy out"},
		"beside a network policy that is not on":  {`access: {to: []}, networkPolicy: {from: [{podSelector: {}}]}`, "set spec.networkPolicy.enabled to true"},
		"a network policy that is off without it": {`networkPolicy: {enabled: false}`, ""},
	}
	a := newAdmission(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			spec := test.spec
			if !strings.HasPrefix(spec, "ports:") {
				spec = "ports: [{port: 80}], " + spec
			}
			switch _, dropped, err := a.admit(t, named(t, "web", "{image: a, "+spec+"}")); {
			case test.refused == "" && (err != nil || len(dropped) > 0):
				t.Errorf("dropped fields %v, error %v", dropped, err)
			case test.refused != "" && (err == nil || !strings.Contains(err.Error(), test.refused)):
				t.Errorf("got %v, want a refusal that says %q", err, test.refused)
			}
		})
	}
}
