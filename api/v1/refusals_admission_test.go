package v1_test

import (
	"strings"
	"testing"
)

// TestWhatIsRefusedBeforeItIsStored are specs that the API server or the operator would refuse later, when objects are written.
func TestWhatIsRefusedBeforeItIsStored(t *testing.T) {
	const restricted, path = "spec.security.profile Restricted excludes", "path must not have"
	tests := map[string]struct{ spec, want string }{
		"Restricted":                           {`{image: a, security: {profile: Restricted, pod: {runAsUser: 1000}, container: {runAsNonRoot: true}}}`, ""},
		"Restricted and maybe root":            {`{image: a, security: {profile: Restricted, pod: {runAsNonRoot: false}}}`, restricted},
		"Restricted and root":                  {`{image: a, security: {profile: Restricted, pod: {runAsUser: 0}}}`, restricted},
		"Restricted and a container of root's": {`{image: a, security: {profile: Restricted, container: {runAsUser: 0}}}`, restricted},
		"Restricted and a container that may be": {
			`{image: a, security: {profile: Restricted, container: {runAsNonRoot: false}}}`, restricted,
		},
		"Restricted and more rights":          {`{image: a, security: {profile: Restricted, container: {allowPrivilegeEscalation: true}}}`, restricted},
		"Restricted and a low port":           {`{image: a, security: {profile: Restricted, container: {capabilities: {add: [NET_BIND_SERVICE]}}}}`, ""},
		"Restricted and another capability":   {`{image: a, security: {profile: Restricted, container: {capabilities: {add: [CHOWN]}}}}`, restricted},
		"Baseline and root":                   {`{image: a, security: {profile: Baseline, pod: {runAsUser: 0}, container: {capabilities: {add: [CHOWN]}}}}`, ""},
		"root without a profile":              {`{image: a, security: {pod: {runAsUser: 0}}}`, ""},
		"a path":                              {ingress(`{path: /a.b/..c/d..}`), ""},
		"a path that goes up":                 {ingress(`{path: /x/../app}`), path},
		"a path that ends going up":           {ingress(`{path: /x/..}`), path},
		"a path that stays":                   {ingress(`{path: /x/./app}`), path},
		"a path with two slashes":             {ingress(`{path: /x//app}`), path},
		"a path with an escaped slash":        {ingress(`{path: /x%2fapp, pathType: Exact}`), path},
		"a pattern of a path":                 {ingress(`{path: '/x//.*', pathType: ImplementationSpecific}`), ""},
		"a mount that passes on":              {`{image: a, volumeMounts: [{name: a, mountPath: /a, mountPropagation: Bidirectional}]}`, "must not be Bidirectional"},
		"a mount that is passed on to":        {`{image: a, volumeMounts: [{name: a, mountPath: /a, mountPropagation: HostToContainer}]}`, ""},
		"a key of a Secret":                   {`{image: a, config: {databaseUrlFrom: {secretKeyRef: {name: a, key: a-b_c.d}}}}`, ""},
		"generated values":                    {`{image: a, config: {generated: {A: {}, B: {bytes: 16, encoding: hex}}, environment: {C: d}, retainGenerated: true}}`, ""},
		"a generated value of no name":        {`{image: a, config: {generated: {"a=b": {}}}}`, "spec.config.generated keys must be names of environment variables"},
		"a short generated value":             {`{image: a, config: {generated: {A: {bytes: 8}}}}`, "should be greater than or equal to 16"},
		"a generated value in no encoding":    {`{image: a, config: {generated: {A: {encoding: rot13}}}}`, `supported values: "hex", "base64", "alphanumeric"`},
		"long names of generated values":      {`{image: a, config: {generated: {` + strings.Repeat("a", 250) + `: {}, ` + strings.Repeat("b", 250) + `: {}, ` + strings.Repeat("c", 250) + `: {}, ` + strings.Repeat("d", 250) + `: {}}}}`, "must not have more than 1000 characters together"},
		"a key of a Secret with a line break": {`{image: a, config: {databaseUrlFrom: {secretKeyRef: {name: a, key: "a\nb"}}}}`, "must be the key of a Secret"},
	}
	a := newAdmission(t)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := a.admit(t, named(t, "web", test.spec))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("it is refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

// ingress is a spec with one path.
func ingress(path string) string {
	return `{image: a, ports: [{port: 1}], ingress: {hosts: [{host: a.example.com, paths: [` + path + `]}]}}`
}
