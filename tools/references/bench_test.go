package references

import "testing"

// BenchmarkCreate is what all policies together take for an AppService that refers to something, and is allowed to. Most of an API server's
// time goes elsewhere: test/security measures a whole creation.
func BenchmarkCreate(b *testing.B) {
	list := guards(b, "appservice.yaml")
	for name, spec := range map[string]string{
		"without lists": "{image: a, ports: [{port: 80}]}", "literal": "{image: a, envs: [{name: A, value: b}]}", "10 Secrets": secrets(10, 10),
	} {
		b.Run(name, func(b *testing.B) {
			w := write{kind: "AppService", plural: "appservices", now: spec, may: everybody}
			for b.Loop() {
				for _, g := range list {
					if said := g.refusal(b, w); said != "" {
						b.Fatal(said)
					}
				}
			}
		})
	}
}
