package admission

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authorization/authorizer"
)

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

// asked is how many names the policy asks about one by one.
const asked = 16

func TestWhoMayReferToWhat(t *testing.T) {
	policies := Policies()
	env := func(name string) string {
		return "{image: a, envs: [{name: A, valueFrom: {secretKeyRef: {name: " + name + ", key: k}}}]}"
	}
	const snapshot = "{image: a, volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {dataSource: {kind: VolumeSnapshot, name: data}}}}}]}"
	cases := map[string]struct {
		Write
		want string // a part of the refusal; empty if it passes
	}{
		"who may nothing refers to nothing": {Write{Now: "{image: a, envs: [{name: A, value: b}], volumes: [{name: a, emptyDir: {}}]}"}, ""},
		"who may nothing refers to a Secret": {
			Write{Now: env("db")},
			`spec.envs[].valueFrom.secretKeyRef.name refers to Secret "db", which you may not get. Ask for the right to get secrets in namespace shop, or have a user with that right write this AppService`,
		},
		"the right on all Secrets":            {Write{Now: env("db"), May: on("get", "secrets")}, ""},
		"the right on this Secret":            {Write{Now: env("db"), May: only("db")}, ""},
		"the right on another Secret":         {Write{Now: env("db"), May: only("web")}, `Secret "db"`},
		"the right on ConfigMaps":             {Write{Now: env("db"), May: on("get", "configmaps")}, `Secret "db"`},
		"what was there stays":                {Write{Before: env("db"), Now: strings.Replace(env("db"), "image: a", "image: b", 1)}, ""},
		"what was there moves between fields": {Write{Before: env("db"), Now: "{image: a, envFrom: [{secretRef: {name: db}}]}"}, ""},
		"another key of what was there":       {Write{Before: env("db"), Now: strings.Replace(env("db"), "key: k", "key: l", 1)}, ""},
		"what pods can read may pull":         {Write{Before: env("db"), Now: "{image: a, imagePullSecrets: [{name: db}]}"}, ""},
		"what pulls cannot be read by pods": {
			Write{Before: "{image: a, imagePullSecrets: [{name: pull}]}", Now: "{image: a, imagePullSecrets: [{name: pull}], envFrom: [{secretRef: {name: pull}}]}"},
			`spec.envFrom[].secretRef.name refers to Secret "pull"`,
		},
		"a certificate cannot be read by pods": {
			Write{
				Before: "{image: a, ingress: {tls: [{secretName: cert}]}}",
				Now:    "{image: a, ingress: {tls: [{secretName: cert}]}, volumes: [{name: a, projected: {sources: [{secret: {name: cert}}]}}]}",
			},
			`spec.volumes[].projected.sources[].secret.name refers to Secret "cert"`,
		},
		"a certificate cannot go to a volume driver": {
			Write{
				Before: "{image: a, ingress: {tls: [{secretName: cert}]}}",
				Now:    "{image: a, volumes: [{name: a, csi: {driver: smb, nodePublishSecretRef: {name: cert}}}]}",
			},
			`spec.volumes[].csi.nodePublishSecretRef.name refers to Secret "cert"`,
		},
		"a Secret that an issuer writes, for who reads Secrets": {
			Write{Now: issued("issuer: a", "cert"), May: on("get", "secrets")},
			`spec.ingress.tls[].secretName refers to issued Secret "cert", which you may not update. Ask for the right to update secrets in namespace shop`,
		},
		"the same by an annotation":                        {Write{Now: issued("annotations: {cert-manager.io/issuer: a}", "cert"), May: on("get", "secrets")}, `issued Secret "cert"`},
		"the same by an issuer of the cluster":             {Write{Now: issued("clusterIssuer: a", "cert"), May: on("get", "secrets")}, `issued Secret "cert"`},
		"the same by an annotation for the cluster":        {Write{Now: issued("annotations: {cert-manager.io/cluster-issuer: a}", "cert"), May: on("get", "secrets")}, `issued Secret "cert"`},
		"the same by the issuer that the platform has":     {Write{Now: issued(`annotations: {kubernetes.io/tls-acme: "true"}`, "cert"), May: on("get", "secrets")}, `issued Secret "cert"`},
		"the same for a route":                             {Write{Now: "{image: a, route: {tls: {issuer: a, secretName: cert}}}", May: func(a authorizer.Attributes) bool { return a.GetVerb() != "update" }}, `spec.route.tls.secretName refers to issued Secret "cert"`},
		"no issuer is asked":                               {Write{Now: issued(`annotations: {kubernetes.io/tls-acme: "false", cert-manager.io/duration: 1h}`, "cert"), May: on("get", "secrets")}, ""},
		"a Secret that an issuer writes, for who may":      {Write{Now: issued("issuer: a", "cert"), May: on("update", "secrets")}, ""},
		"a Secret that an issuer writes, for who may that": {Write{Now: issued("issuer: a", "cert"), May: only("cert")}, ""},
		"an issuer is added": {
			Write{Before: issued("className: a", "cert"), Now: issued("issuer: a", "cert"), May: on("get", "secrets")}, `which you may not update`,
		},
		"an issuer is added for what pods read": {
			Write{Before: env("cert"), Now: "{envs: [{name: A, valueFrom: {secretKeyRef: {name: cert, key: k}}}], " + issued("issuer: a", "cert")[1:]}, `issued Secret "cert"`,
		},
		"an issuer that stays":               {Write{Before: issued("issuer: a", "cert"), Now: issued("annotations: {cert-manager.io/issuer: b}", "cert")}, ""},
		"an issuer that goes":                {Write{Before: issued("issuer: a", "cert"), Now: issued("className: a", "cert")}, ""},
		"a certificate that stays":           {Write{Before: issued("className: a", "cert"), Now: issued("className: b", "cert")}, ""},
		"an issuer writes another":           {Write{Before: issued("issuer: a", "cert"), Now: issued("issuer: a", "cert2"), May: on("get", "secrets")}, `issued Secret "cert2"`},
		"an issuer that is nothing like one": {Write{Kind: "Backup", Now: "{ingress: [tls], issuer: a, secretName: b}", May: on("get", "secrets")}, ""},
		"an issuer beside what is no certificate": {
			Write{Now: "{image: a, envFrom: [{secretRef: {name: db}}], ingress: {issuer: a, hosts: []}}", May: on("get", "secrets")}, "",
		},

		"reading an account is not a right to be it": {Write{Now: "{image: a, serviceAccount: {name: root}}", May: on("get", "serviceaccounts")}, `spec.serviceAccount.name refers to ServiceAccount "root", which you may not impersonate`},
		"who may be the account":                     {Write{Now: "{image: a, serviceAccount: {name: root}}", May: on("impersonate", "serviceaccounts")}, ""},
		"an account of its own": {
			Write{Now: "{image: a, serviceAccount: {}}"}, `creates ServiceAccount "web"`,
		},
		"an account of its own for who makes accounts": {Write{Now: "{image: a, serviceAccount: {}}", May: on("create", "serviceaccounts")}, ""},
		"an account of its own for who may be it": {
			Write{Now: "{image: a, serviceAccount: {}}", May: func(a authorizer.Attributes) bool { return a.GetVerb() == "impersonate" && a.GetName() == "web" }}, "",
		},
		"an account of its own for who reads accounts": {Write{Now: "{image: a, serviceAccount: {}}", May: on("get", "serviceaccounts")}, `ServiceAccount "web"`},
		"an account of its own that stays":             {Write{Before: "{image: a, serviceAccount: {}}", Now: "{image: b, serviceAccount: {automountToken: true}}"}, ""},
		"an account of its own with another identity": {
			Write{Before: "{image: a, serviceAccount: {}}", Now: "{image: a, serviceAccount: {annotations: {eks.amazonaws.com/role-arn: a}}}"}, `ServiceAccount "web"`,
		},
		"an account of its own instead of another": {Write{Before: "{image: a, serviceAccount: {name: b}}", Now: "{image: a, serviceAccount: {}}"}, `ServiceAccount "web"`},
		"a created account with a name and another identity": {
			Write{Before: "{image: a, serviceAccount: {create: true, name: b}}", Now: "{image: a, serviceAccount: {create: true, name: b, annotations: {eks.amazonaws.com/role-arn: a}}}"},
			`spec.serviceAccount creates ServiceAccount "b"`,
		},
		"a named account that is created from now on": {
			Write{Before: "{image: a, serviceAccount: {name: b, annotations: {a: b}}}", Now: "{image: a, serviceAccount: {create: true, name: b, annotations: {a: b}}}"}, `ServiceAccount "b"`,
		},
		"a created account with a name loses its identity": {
			Write{Before: "{image: a, serviceAccount: {create: true, name: b, annotations: {a: b}}}", Now: "{image: a, serviceAccount: {create: true, name: b}}"}, `ServiceAccount "b"`,
		},
		"the right to be the resource's account is not one on another": {
			Write{Before: "{image: a, serviceAccount: {create: true, name: b}}", Now: "{image: a, serviceAccount: {create: true, name: b, annotations: {a: b}}}", May: only("web")}, `ServiceAccount "b"`,
		},
		"another identity for who may be the account": {
			Write{Before: "{image: a, serviceAccount: {create: true, name: b}}", Now: "{image: a, serviceAccount: {create: true, name: b, annotations: {a: b}}}", May: only("b")}, "",
		},
		"another identity for who makes accounts": {
			Write{
				Before: "{image: a, serviceAccount: {create: true, name: b}}", Now: "{image: a, serviceAccount: {create: true, name: b, annotations: {a: b}}}",
				May: on("create", "serviceaccounts"),
			}, "",
		},
		"a created account with a name that stays":    {Write{Before: "{image: a, serviceAccount: {create: true, name: b, annotations: {a: b}}}", Now: "{image: b, serviceAccount: {create: true, name: b, annotations: {a: b}}}"}, ""},
		"the account gets the name that it has":       {Write{Before: "{image: a, serviceAccount: {}}", Now: "{image: a, serviceAccount: {create: true, name: web}}", May: only("web")}, ""},
		"annotations for an account that is not made": {Write{Before: "{image: a, serviceAccount: {name: b}}", Now: "{image: a, serviceAccount: {name: b, annotations: {a: b}}}"}, ""},
		"the account of the namespace":                {Write{Now: "{image: a, serviceAccount: {create: false}}"}, ""},
		"a job makes no account":                      {Write{Kind: "AppJob", Now: "{image: a, serviceAccount: {}}"}, ""},
		"keys of users are no fields": {
			Write{Now: "{image: a, config: {environment: {secretName: a, serviceAccount: b, name: c}, files: {claimName: d}}, podAnnotations: {secretName: a}, resources: {limits: {secretName: 1}}, " +
				"podTemplate: {metadata: {annotations: {serviceAccount: a}, labels: {claimName: b}}}, nodeSelector: {serviceAccountName: a}}"}, "",
		},
		"fields of a kind of a chart, named as ours":      {Write{Kind: "Backup", Now: "{route: [{kind: x}], monitoring: on, autoscaling: 3, serviceAccount: {create: [a]}}"}, ""},
		"fields of a kind of a chart that are ours":       {Write{Kind: "Backup", Now: "{route: {kind: x}}"}, "spec.route requires kind HTTPRoute"},
		"a field of a kind of a chart":                    {Write{Kind: "Backup", Now: "{target: {secretName: db}}"}, `spec.target.secretName refers to Secret "db"`},
		"a claim":                                         {Write{Now: "{image: a, volumes: [{name: a, persistentVolumeClaim: {claimName: data}}]}"}, `PersistentVolumeClaim "data"`},
		"a copy of a claim":                               {Write{Now: "{image: a, volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {dataSource: {kind: PersistentVolumeClaim, name: data}}}}}]}"}, `PersistentVolumeClaim "data"`},
		"a copy of a snapshot":                            {Write{Now: snapshot}, `dataSource.name refers to volume source "data", which you may not copy into a volume. Ask for the right to create persistentvolumeclaims in namespace shop`},
		"a copy of a snapshot for who reads claims":       {Write{Now: snapshot, May: on("get", "persistentvolumeclaims")}, `volume source "data"`},
		"a copy of a snapshot for who makes claims":       {Write{Now: snapshot, May: on("create", "persistentvolumeclaims")}, ""},
		"a snapshot of the name of a claim":               {Write{Before: strings.Replace(snapshot, "VolumeSnapshot", "PersistentVolumeClaim", 1), Now: snapshot}, `volume source "data"`},
		"a volume by its name":                            {Write{Now: "{image: a, volumes: [{name: a, ephemeral: {volumeClaimTemplate: {spec: {volumeName: old}}}}]}"}, `volumeClaimTemplate.spec.volumeName refers to volume source "old"`},
		"devices of another":                              {Write{Now: "{image: a, podTemplate: {spec: {resourceClaims: [{name: a, resourceClaimName: gpu}]}}}"}, `spec.podTemplate.spec.resourceClaims[].resourceClaimName refers to ResourceClaim "gpu", which you may not get`},
		"devices like another's":                          {Write{Now: "{image: a, podTemplate: {spec: {resourceClaims: [{name: a, resourceClaimTemplateName: gpu}]}}}"}, `refers to ResourceClaimTemplate "gpu", which you may not get`},
		"null takes fields away":                          {Write{Now: "{image: a, podTemplate: {spec: {volumes: null, containers: [{name: app, env: null, envFrom: [{secretRef: null}]}], imagePullSecrets: [{name: null}]}}}"}, ""},
		"what is not a list or no text refers to nothing": {Write{Now: "{image: a, podTemplate: {spec: {volumes: {a: b}, initContainers: a, containers: [a, 3, {env: 3}], imagePullSecrets: [{name: 3}]}}}"}, ""},
		"a patch that only deletes":                       {Write{Now: `{image: a, podTemplate: {spec: {containers: [{name: app, env: [{name: A, "$patch": delete}]}]}}}`}, ""},
		"a name with a blank counts as two":               {Write{Now: env(`"a db"`), May: only("db")}, `Secret "a"`},
		"the first of several that is missing is named": {
			Write{Now: "{image: a, envFrom: [{secretRef: {name: db}}, {secretRef: {name: web}}]}", May: only("db")}, `Secret "web"`,
		},
		"as many names as are asked about": {Write{Now: secrets(asked, asked), May: func(a authorizer.Attributes) bool { return a.GetName() != "" }}, ""},
		"the last of them is missing":      {Write{Now: secrets(asked, asked), May: func(a authorizer.Attributes) bool { return a.GetName() != "" && a.GetName() != "s15" }}, `Secret "s15"`},
		"one name more takes the right on all": {
			Write{Now: secrets(asked+1, asked+1), May: func(a authorizer.Attributes) bool { return a.GetName() != "" }}, "need the right to get all secrets",
		},
		"one name more with the right on all": {Write{Now: secrets(asked+1, asked+1), May: on("get", "secrets")}, ""},
		"one name more than were there": {
			Write{Before: secrets(asked, asked), Now: secrets(asked+1, asked+1), May: only("s16")}, "",
		},
		"the same name again and again":           {Write{Now: secrets(50, 1), May: only("s0")}, ""},
		"one more of many":                        {Write{Before: secrets(255, 1), Now: secrets(256, 1), May: nobody}, ""},
		"another image beside long lists":         {Write{Before: secrets(400, 1), Now: strings.Replace(secrets(400, 1), "image: a", "image: b", 1)}, ""},
		"more new references than are told apart": {Write{Now: secrets(51, 1), May: only("s0")}, "need the right to get all secrets"},
		"the same with the right on all":          {Write{Now: secrets(51, 51), May: on("get", "secrets")}, ""},

		"a route without the right":      {Write{Now: "{image: a, route: {parentRefs: [{name: a}]}}"}, "spec.route requires kind HTTPRoute, and you may not create httproutes.gateway.networking.k8s.io. Ask for the right to create them in namespace shop"},
		"a route with the right":         {Write{Now: "{image: a, route: {}}", May: on("create", "httproutes")}, ""},
		"a route that stays":             {Write{Before: "{image: a, route: {hostnames: [a]}}", Now: "{image: b, route: {hostnames: [a]}}"}, ""},
		"a route that goes":              {Write{Before: "{image: a, route: {hostnames: [a]}}", Now: "{image: a}"}, ""},
		"a route that changes":           {Write{Before: "{image: a, route: {hostnames: [a]}}", Now: "{image: a, route: {hostnames: [b]}}", May: on("create", "httproutes")}, "you may not update httproutes"},
		"listeners without the right":    {Write{Now: "{image: a, route: {tls: {issuer: a}}}", May: on("create", "httproutes")}, "spec.route.tls requires kind ListenerSet, and you may not create listenersets.gateway.networking.k8s.io"},
		"listeners for another host":     {Write{Before: "{image: a, route: {hostnames: [a], tls: {issuer: a}}}", Now: "{image: a, route: {hostnames: [b], tls: {issuer: a}}}", May: on("update", "httproutes")}, "you may not update listenersets"},
		"a certificate of others":        {Write{Now: "{image: a, route: {tls: {secretName: db}}}", May: func(a authorizer.Attributes) bool { return a.GetResource() != "secrets" }}, `spec.route.tls.secretName refers to Secret "db", which you may not get`},
		"a GRPCRoute without the right":  {Write{Now: "{image: a, route: {kind: GRPCRoute}}", May: on("create", "httproutes")}, "spec.route requires kind GRPCRoute, and you may not create grpcroutes.gateway.networking.k8s.io"},
		"a GRPCRoute with the right":     {Write{Now: "{image: a, route: {kind: GRPCRoute}}", May: on("create", "grpcroutes")}, ""},
		"a redirect beside a GRPCRoute":  {Write{Now: "{image: a, route: {kind: GRPCRoute, redirectHTTP: true}}", May: on("create", "grpcroutes")}, "you may not create httproutes"},
		"monitoring that is off":         {Write{Now: "{image: a, monitoring: {enabled: false}}"}, ""},
		"monitoring that is switched on": {Write{Before: "{image: a, monitoring: {enabled: false}}", Now: "{image: a, monitoring: {enabled: true}}"}, "you may not create servicemonitors"},
		"monitoring of another port":     {Write{Before: "{image: a, monitoring: {enabled: true}}", Now: "{image: a, monitoring: {enabled: true, port: 9}}"}, "you may not update servicemonitors"},
		"triggers":                       {Write{Now: "{image: a, autoscaling: {maxReplicas: 3, triggers: [{type: cron}]}}"}, "you may not create scaledobjects.keda.sh"},
		"autoscaling without triggers":   {Write{Now: "{image: a, autoscaling: {maxReplicas: 3}}"}, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			test.Kind = cmp.Or(test.Kind, "AppService")
			got := strings.Join(Refusals(policies, test.Write), "\n")
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

// issued is a spec with an Ingress that has a field, and a certificate in a Secret.
func issued(field, name string) string {
	return "{image: a, ingress: {" + field + ", tls: [{secretName: " + name + "}]}}"
}
