package references

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"sigs.k8s.io/yaml"
)

const root = "../.."

// words such as nobody and everybody are rights.
func nobody(authorizer.Attributes) bool    { return false }
func everybody(authorizer.Attributes) bool { return true }

// only is the right on objects of one name.
func only(name string) func(authorizer.Attributes) bool {
	return func(a authorizer.Attributes) bool { return a.GetName() == name }
}

// on is the right on all objects of a resource.
func on(verb, resource string) func(authorizer.Attributes) bool {
	return func(a authorizer.Attributes) bool {
		return a.GetVerb() == verb && a.GetResource() == resource && a.GetNamespace() == "shop" && a.GetName() == ""
	}
}

// refused is what the policies of AppServices say to a write; empty if it passes.
func refused(t *testing.T, list []*guard, w write) string {
	t.Helper()
	w.kind, w.plural = "AppService", "appservices"
	for _, g := range list {
		if said := g.refusal(t, w); said != "" {
			return said
		}
	}
	return ""
}

func TestWhoMayReferToWhat(t *testing.T) {
	list := guards(t, "appservice.yaml")
	env := func(name string) string {
		return "{image: a, envs: [{name: A, valueFrom: {secretKeyRef: {name: " + name + ", key: k}}}]}"
	}
	const snapshot = "{image: a, volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {dataSource: {kind: VolumeSnapshot, name: data}}}}}]}"
	cases := map[string]struct {
		write
		want string // a part of the refusal; empty if it passes
	}{
		"who may nothing refers to nothing": {write{now: "{image: a, envs: [{name: A, value: b}], volumes: [{name: a, emptyDir: {}}]}"}, ""},
		"who may nothing refers to a Secret": {
			write{now: env("db")},
			`spec.envs[].valueFrom.secretKeyRef.name refers to Secret "db", which you may not get. Ask for the right to get secrets in namespace shop, or have a user with that right write this AppService`,
		},
		"the right on all Secrets":            {write{now: env("db"), may: on("get", "secrets")}, ""},
		"the right on this Secret":            {write{now: env("db"), may: only("db")}, ""},
		"the right on another Secret":         {write{now: env("db"), may: only("web")}, `Secret "db"`},
		"the right on ConfigMaps":             {write{now: env("db"), may: on("get", "configmaps")}, `Secret "db"`},
		"what was there stays":                {write{before: env("db"), now: strings.Replace(env("db"), "image: a", "image: b", 1)}, ""},
		"what was there moves between fields": {write{before: env("db"), now: "{image: a, envFrom: [{secretRef: {name: db}}]}"}, ""},
		"another key of what was there":       {write{before: env("db"), now: strings.Replace(env("db"), "key: k", "key: l", 1)}, ""},
		"what pods can read may pull":         {write{before: env("db"), now: "{image: a, imagePullSecrets: [{name: db}]}"}, ""},
		"what pulls cannot be read by pods": {
			write{before: "{image: a, imagePullSecrets: [{name: pull}]}", now: "{image: a, imagePullSecrets: [{name: pull}], envFrom: [{secretRef: {name: pull}}]}"},
			`spec.envFrom[].secretRef.name refers to Secret "pull"`,
		},
		"a certificate cannot be read by pods": {
			write{
				before: "{image: a, ingress: {tls: [{secretName: cert}]}}",
				now:    "{image: a, ingress: {tls: [{secretName: cert}]}, volumes: [{name: a, projected: {sources: [{secret: {name: cert}}]}}]}",
			},
			`spec.volumes[].projected.sources[].secret.name refers to Secret "cert"`,
		},
		"a certificate cannot go to a volume driver": {
			write{
				before: "{image: a, ingress: {tls: [{secretName: cert}]}}",
				now:    "{image: a, volumes: [{name: a, csi: {driver: smb, nodePublishSecretRef: {name: cert}}}]}",
			},
			`spec.volumes[].csi.nodePublishSecretRef.name refers to Secret "cert"`,
		},
		"reading an account is not a right to be it":      {write{now: "{image: a, serviceAccount: {name: root}}", may: on("get", "serviceaccounts")}, `spec.serviceAccount.name refers to ServiceAccount "root", which you may not impersonate`},
		"who may be the account":                          {write{now: "{image: a, serviceAccount: {name: root}}", may: on("impersonate", "serviceaccounts")}, ""},
		"an account of its own":                           {write{now: "{image: a, serviceAccount: {}}"}, ""},
		"a claim":                                         {write{now: "{image: a, volumes: [{name: a, persistentVolumeClaim: {claimName: data}}]}"}, `PersistentVolumeClaim "data"`},
		"a copy of a claim":                               {write{now: "{image: a, volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {dataSource: {kind: PersistentVolumeClaim, name: data}}}}}]}"}, `PersistentVolumeClaim "data"`},
		"a copy of a snapshot":                            {write{now: snapshot}, `dataSource.name refers to volume source "data", which you may not copy into a volume. Ask for the right to create persistentvolumeclaims in namespace shop`},
		"a copy of a snapshot for who reads claims":       {write{now: snapshot, may: on("get", "persistentvolumeclaims")}, `volume source "data"`},
		"a copy of a snapshot for who makes claims":       {write{now: snapshot, may: on("create", "persistentvolumeclaims")}, ""},
		"a snapshot of the name of a claim":               {write{before: strings.Replace(snapshot, "VolumeSnapshot", claim, 1), now: snapshot}, `volume source "data"`},
		"a volume by its name":                            {write{now: "{image: a, volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {volumeName: old}}}}]}"}, `volumeClaimTemplate.spec.volumeName refers to volume source "old"`},
		"devices of another":                              {write{now: "{image: a, podTemplate: {spec: {resourceClaims: [{name: a, resourceClaimName: gpu}]}}}"}, `spec.podTemplate.spec.resourceClaims[].resourceClaimName refers to ResourceClaim "gpu", which you may not get`},
		"devices like another's":                          {write{now: "{image: a, podTemplate: {spec: {resourceClaims: [{name: a, resourceClaimTemplateName: gpu}]}}}"}, `refers to ResourceClaimTemplate "gpu", which you may not get`},
		"null takes fields away":                          {write{now: "{image: a, podTemplate: {spec: {volumes: null, containers: [{name: app, env: null, envFrom: [{secretRef: null}]}], imagePullSecrets: [{name: null}]}}}"}, ""},
		"what is not a list or no text refers to nothing": {write{now: "{image: a, podTemplate: {spec: {volumes: {a: b}, initContainers: a, containers: [a, 3, {env: 3}], imagePullSecrets: [{name: 3}]}}}"}, ""},
		"a patch that only deletes":                       {write{now: `{image: a, podTemplate: {spec: {containers: [{name: app, env: [{name: A, "$patch": delete}]}]}}}`}, ""},
		"a name with a blank counts as two":               {write{now: env(`"a db"`), may: only("db")}, `Secret "a"`},
		"the first of several that is missing is named": {
			write{now: "{image: a, envFrom: [{secretRef: {name: db}}, {secretRef: {name: web}}]}", may: only("db")}, `Secret "web"`,
		},
		"as many names as are asked about": {write{now: secrets(maxNames, maxNames), may: func(a authorizer.Attributes) bool { return a.GetName() != "" }}, ""},
		"the last of them is missing":      {write{now: secrets(maxNames, maxNames), may: func(a authorizer.Attributes) bool { return a.GetName() != "" && a.GetName() != "s15" }}, `Secret "s15"`},
		"one name more takes the right on all": {
			write{now: secrets(maxNames+1, maxNames+1), may: func(a authorizer.Attributes) bool { return a.GetName() != "" }}, "takes the right to get all secrets",
		},
		"one name more with the right on all": {write{now: secrets(maxNames+1, maxNames+1), may: on("get", "secrets")}, ""},
		"one name more than were there": {
			write{before: secrets(maxNames, maxNames), now: secrets(maxNames+1, maxNames+1), may: only("s16")}, "",
		},
		"the same name again and again":   {write{now: secrets(maxNew, 1), may: only("s0")}, ""},
		"the same name too often":         {write{now: secrets(maxNew+1, 1), may: only("s0")}, "takes the right to get all secrets"},
		"one more of many":                {write{before: secrets(maxEntries-1, 1), now: secrets(maxEntries, 1), may: nobody}, ""},
		"longer lists than are compared":  {write{before: secrets(maxEntries, 1), now: secrets(maxEntries+1, 1), may: only("s0")}, "takes the right to get all secrets"},
		"another image beside long lists": {write{before: secrets(maxEntries+1, 1), now: strings.Replace(secrets(maxEntries+1, 1), "image: a", "image: b", 1)}, ""},

		"a route without the right":      {write{now: "{image: a, route: {parentRefs: [{name: a}]}}"}, "spec.route asks for kind HTTPRoute, and you may not create httproutes.gateway.networking.k8s.io. Ask for the right to create them in namespace shop"},
		"a route with the right":         {write{now: "{image: a, route: {}}", may: on("create", "httproutes")}, ""},
		"a route that stays":             {write{before: "{image: a, route: {hostnames: [a]}}", now: "{image: b, route: {hostnames: [a]}}"}, ""},
		"a route that goes":              {write{before: "{image: a, route: {hostnames: [a]}}", now: "{image: a}"}, ""},
		"a route that changes":           {write{before: "{image: a, route: {hostnames: [a]}}", now: "{image: a, route: {hostnames: [b]}}", may: on("create", "httproutes")}, "you may not update httproutes"},
		"monitoring that is off":         {write{now: "{image: a, monitoring: {enabled: false}}"}, ""},
		"monitoring that is switched on": {write{before: "{image: a, monitoring: {enabled: false}}", now: "{image: a, monitoring: {enabled: true}}"}, "you may not create servicemonitors"},
		"monitoring of another port":     {write{before: "{image: a, monitoring: {enabled: true}}", now: "{image: a, monitoring: {enabled: true, port: 9}}"}, "you may not update servicemonitors"},
		"triggers":                       {write{now: "{image: a, autoscaling: {maxReplicas: 3, triggers: [{type: cron}]}}"}, "you may not create scaledobjects.keda.sh"},
		"autoscaling without triggers":   {write{now: "{image: a, autoscaling: {maxReplicas: 3}}"}, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if test.may == nil {
				test.may = nobody
			}
			got := refused(t, list, test.write)
			if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// secrets is a spec with variables from Secrets s0, s1 and so on, so many different ones.
func secrets(count, different int) string {
	var list []string
	for i := range count {
		list = append(list, fmt.Sprintf("{name: A%d, valueFrom: {secretKeyRef: {name: s%d, key: k}}}", i, i%different))
	}
	return "{image: a, envs: [" + strings.Join(list, ", ") + "]}"
}

// Each field that refers to something, of each kind that is served: it takes the right on just that, and on nothing once it is there.
func TestEachFieldTakesARight(t *testing.T) {
	files, err := filepath.Glob(root + "/config/crd/bases/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("found CRDs %v (%v)", files, err)
	}
	for _, file := range files {
		crd := definition(t, file)
		list := guards(t, strings.ToLower(crd.Spec.Names.Kind)+".yaml")
		fields, err := Of(root, crd)
		require.NoError(t, err)
		for _, field := range fields {
			t.Run(crd.Spec.Names.Kind+"/"+field.Path+" of "+field.To, func(t *testing.T) {
				w := write{kind: crd.Spec.Names.Kind, plural: crd.Spec.Names.Plural, now: specWith(t, field, "it"), may: nobody}
				var said []string
				for _, g := range list {
					if refusal := g.refusal(t, w); refusal != "" {
						said = append(said, refusal)
					}
				}
				if len(said) != 1 || !strings.Contains(said[0], field.Path+" refers to "+field.To+` "it"`) {
					t.Errorf("who may nothing reads %q", said)
				}
				for what, w := range map[string]write{
					"who may refer to it":          {now: w.now, may: only("it")},
					"nobody, and it is there":      {now: w.now, before: strings.Replace(w.now, "{", "{extra: 1, ", 1), may: nobody},
					"who may refer to all of them": {now: w.now, may: func(a authorizer.Attributes) bool { return a.GetName() == "" }},
				} {
					w.kind, w.plural = crd.Spec.Names.Kind, crd.Spec.Names.Plural
					for _, g := range list {
						if refusal := g.refusal(t, w); refusal != "" {
							t.Errorf("%s: refused with %q", what, refusal)
						}
					}
				}
			})
		}
	}
}

// specWith is a spec with nothing but a name in a field.
func specWith(t *testing.T, field Field, name string) string {
	t.Helper()
	var value any = name
	for i := len(field.path) - 1; i > 0; i-- {
		n := field.path[i]
		if n.each != nil && n.isMap {
			value = map[string]any{"key": value}
		} else if n.each != nil {
			value = []any{value}
		}
		if n.name != "" {
			entry := map[string]any{n.name: value}
			if strings.HasPrefix(n.name, "dataSource") {
				value.(map[string]any)["kind"] = map[string]string{claim: claim, source: "VolumeSnapshot"}[field.To]
			}
			value = entry
		}
	}
	text, err := yaml.Marshal(value)
	require.NoError(t, err)
	json, err := yaml.YAMLToJSON(text)
	require.NoError(t, err)
	return string(json)
}

func definition(t *testing.T, file string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	crd := &apiextensionsv1.CustomResourceDefinition{}
	require.NoError(t, yaml.Unmarshal(text, crd))
	return crd
}

// What a namespace sets for all its resources is written by whoever may write its ConfigMap appservice-defaults, and no policy asks him.
func TestNamespacesSetNoReferences(t *testing.T) {
	text, err := os.ReadFile(root + "/watches.yaml")
	require.NoError(t, err)
	var served []struct {
		Kind              string
		NamespaceDefaults []string
	}
	if err := yaml.Unmarshal(text, &served); err != nil || len(served) == 0 {
		t.Fatalf("watches.yaml names %v (%v)", served, err)
	}
	for _, entry := range served {
		files, err := filepath.Glob(root + "/config/crd/bases/*_" + strings.ToLower(entry.Kind) + "s.yaml")
		if err != nil || len(files) != 1 {
			t.Fatalf("%s has the CRDs %v (%v)", entry.Kind, files, err)
		}
		fields, err := Of(root, definition(t, files[0]))
		require.NoError(t, err)
		for _, field := range fields {
			for _, name := range entry.NamespaceDefaults {
				if strings.HasPrefix(field.Path+".", "spec."+name+".") || strings.HasPrefix(field.Path, "spec."+name+"[]") {
					t.Errorf("namespaceDefaults of %s lets a namespace set %s", entry.Kind, field.Path)
				}
			}
		}
	}
}
