package admission

import (
	"strings"
	"testing"
)

func TestWhoDeletesWhatIsStored(t *testing.T) {
	const (
		data      = "{image: a, persistence: {size: 1Gi, mountPath: /a, retain: false}}"
		kept      = "{image: a, persistence: {size: 1Gi, mountPath: /a}}"
		claims    = "{image: a, claims: [{name: a, size: 1Gi, retain: false}, {name: b, size: 1Gi}]}"
		generated = "{image: a, config: {generated: {A: {}, B: {}}}}"
		retained  = "{image: a, config: {generated: {A: {}}, retainGenerated: true}}"
		replicas  = "{image: a, statefulSet: {}, claims: [{name: a, size: 1Gi, perReplica: true}]}"
	)
	policies := Policies()
	for name, test := range map[string]struct {
		before, now string
		want        string // a part of the refusal; empty if it passes
	}{
		"a first apply":                            {"", data, ""},
		"another ttl":                              {"{ttl: 1h, image: a}", "{ttl: 2h, image: a}", "spec.ttl has the AppService deleted when it expires"},
		"no ttl":                                   {"{ttl: 1h, image: a}", "{image: a}", ""},
		"data is no longer retained":               {kept, data, "spec.persistence is no longer retained: this requires the right to delete this AppService"},
		"data that is not retained goes":           {data, "{image: a}", "spec.persistence, which is not retained, is deleted when the spec lacks it"},
		"data that is not retained stays":          {data, strings.Replace(data, "image: a", "image: b, size: 0", 1), ""},
		"data that is not retained is from now on": {data, kept, ""},
		"data that is retained goes":               {kept, "{image: a}", ""},
		"data that nobody stored yet":              {"{image: a}", data, ""},
		"a claim is no longer retained":            {claims, strings.Replace(claims, "b, size: 1Gi", "b, size: 1Gi, retain: false", 1), "claim b of spec.claims is no longer retained"},
		"a claim that is not retained goes":        {claims, "{image: a, claims: [{name: b, size: 1Gi}]}", "claim a of spec.claims, which is not retained"},
		"a claim that is not retained has another name": {
			claims, strings.Replace(claims, "name: a", "name: c", 1), "claim a of spec.claims, which is not retained",
		},
		"a claim that is retained goes":             {claims, "{image: a, claims: [{name: a, size: 1Gi, retain: false}]}", ""},
		"claims in another order":                   {claims, "{image: a, claims: [{name: b, size: 1Gi}, {name: a, size: 1Gi, retain: false}]}", ""},
		"a further claim that is not retained":      {claims, strings.Replace(claims, "]}", ", {name: c, size: 1Gi, retain: false}]}", 1), ""},
		"generated values go":                       {generated, "{image: a}", "the values of spec.config.generated, which are not retained, are deleted"},
		"generated values go, and would be kept":    {generated, "{image: a, config: {retainGenerated: true}}", "the values of spec.config.generated, which are not retained"},
		"one of them goes: its key stays":           {generated, "{image: a, config: {generated: {A: {}}}}", ""},
		"generated values are no longer retained":   {retained, strings.Replace(retained, "true", "false", 1), "the values of spec.config.generated are no longer retained"},
		"generated values that are retained go":     {retained, "{image: a}", ""},
		"claims of replicas go when it is scaled":   {replicas, strings.Replace(replicas, "{}", "{whenScaled: Delete}", 1), "whenScaled: Delete has claims deleted with their replicas"},
		"claims of replicas go, as before":          {strings.Replace(replicas, "{}", "{whenScaled: Delete}", 1), strings.Replace(replicas, "{}", "{whenScaled: Delete}, size: 0", 1), ""},
		"claims of replicas stay when it is scaled": {strings.Replace(replicas, "{}", "{whenScaled: Delete}", 1), replicas, ""},
	} {
		t.Run(name, func(t *testing.T) {
			write := Write{Kind: "AppService", Before: test.before, Now: test.now, May: on("create", "serviceaccounts")}
			got := strings.Join(Refusals(policies, write), "\n")
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
			write.May = only("web")
			if got := Refusals(policies, write); len(got) > 0 {
				t.Errorf("who may delete it is refused: %q", got)
			}
		})
	}
}
