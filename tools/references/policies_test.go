package references

import (
	"testing"
	"fmt"
	"time"
	"strings"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

func TestScratch(t *testing.T) {
	list := guards(t, "appservice.yaml")
	guards(t, "appjob.yaml")
	many := func(n int, distinct int) string {
		var s []string
		for i := range n { s = append(s, fmt.Sprintf("{name: E%d, valueFrom: {secretKeyRef: {name: secret-with-a-name-%d, key: k}}}", i, i%distinct)) }
		return "{image: a, envs: ["+strings.Join(s, ", ")+"]}"
	}
	for name, w := range map[string]write{
		"nothing": {now: "{image: a}"},
		"one": {now: many(1,1)},
		"ten": {now: many(10,10)},
		"20": {now: many(20,20)},
		"256/5": {now: many(256,5)},
		"256/20 same": {now: many(256,20), before: strings.Replace(many(256, 20), "k}", "l}", 1)},
		"590/20": {now: many(590,20)},
		"590/20 to other": {now: many(590,20), before: many(600, 600)},
		"590 same": {now: many(600,600), before: strings.Replace(many(600, 600), "k}", "l}", 1)},
		"5900": {now: many(5900,600), before: strings.Replace(many(5900, 600), "k}", "l}", 1)},
	} {
		w.kind, w.plural = "AppService", "appservices"
		_ = authorizer.DecisionAllow
		for _, g := range list {
			before := time.Now()
			r := g.refusal(t, w)
			took := time.Since(before)
			w.may = func(a authorizer.Attributes) bool { return true }
			c, a := g.cost(t, w)
			w.may = func(a authorizer.Attributes) bool { return a.GetName() != "" }
			_, a2 := g.cost(t, w)
			w.may = nil
			fmt.Println(name, g.Name, took, "cost", c, a, a2, "|", r)
		}
	}
}
