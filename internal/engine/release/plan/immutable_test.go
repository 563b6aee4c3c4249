package plan

import (
	"strings"
	"testing"

	"github.com/example/appservice-operator/internal/engine/postrender"
)

func TestWhatCannotChangeIsForetold(t *testing.T) {
	t.Parallel()
	const (
		deployment = "{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: SPEC}"
		set        = "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: SPEC}"
		claim      = "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: SPEC}"
		service    = "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: SPEC}"
		job        = "{apiVersion: batch/v1, kind: Job, metadata: {name: web}, spec: SPEC}"
		config     = "{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, SPEC}"
		secret     = "{apiVersion: v1, kind: Secret, metadata: {name: web}, SPEC}"
		binding    = "{apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {name: web}, roleRef: {kind: Role, name: SPEC}}"
	)
	templates := func(spec string) string {
		return "{serviceName: web, volumeClaimTemplates: [{metadata: {name: data, annotations: {" + postrender.AnnotationStamp + ": a}}, spec: " + spec + "}]}"
	}
	for name, test := range map[string]struct {
		object, old, rendered string
		want                  string // what the reason begins with; empty for none
	}{
		"nothing":                              {deployment, "{replicas: 1}", "{replicas: 1}", ""},
		"a number of replicas":                 {deployment, "{replicas: 1, selector: {matchLabels: {a: b}}}", "{replicas: 2, selector: {matchLabels: {a: b}}}", ""},
		"the selector of a Deployment":         {deployment, "{selector: {matchLabels: {a: b}}}", "{selector: {matchLabels: {a: c}}}", `spec.selector.matchLabels.a of Deployment "web" cannot change from b to c: set it back, or delete the Deployment`},
		"one label more in a selector":         {deployment, "{selector: {matchLabels: {a: b}}}", "{selector: {matchLabels: {a: b, c: d}}}", `spec.selector.matchLabels.c of Deployment "web"`},
		"the Service of a StatefulSet":         {set, "{serviceName: a}", "{serviceName: b}", `spec.serviceName of StatefulSet "web" cannot change from a to b`},
		"the pods of a StatefulSet":            {set, "{serviceName: a, replicas: 1}", "{serviceName: a, replicas: 3, template: {spec: {}}}", ""},
		"claims of a StatefulSet that grow":    {set, templates("{resources: {requests: {storage: 1Gi}}}"), templates("{resources: {requests: {storage: 2Gi}}}"), ""},
		"claims of a StatefulSet that shrink":  {set, templates("{resources: {requests: {storage: 2Gi}}}"), templates("{resources: {requests: {storage: 1Gi}}}"), "spec.volumeClaimTemplates[0].spec.resources.requests.storage of"},
		"a further claim of a StatefulSet":     {set, "{serviceName: web}", templates("{}"), `spec.volumeClaimTemplates of StatefulSet "web" cannot get "data": set the claims with perReplica back (spec.claims, spec.persistence); or delete the StatefulSet with --cascade=orphan`},
		"a claim less of a StatefulSet":        {set, templates("{}"), "{serviceName: web}", `spec.volumeClaimTemplates of StatefulSet "web" cannot lose "data"`},
		"a claim of another name":              {set, templates("{}"), strings.Replace(templates("{}"), "name: data", "name: other", 1), `spec.volumeClaimTemplates of StatefulSet "web" cannot get "other" and cannot lose "data"`},
		"a claim that grows":                   {claim, "{resources: {requests: {storage: 1Gi}}}", "{resources: {requests: {storage: 1025Mi}}}", ""},
		"a claim that shrinks":                 {claim, "{resources: {requests: {storage: 1Gi}}}", "{resources: {requests: {storage: 1023Mi}}}", `spec.resources.requests.storage of PersistentVolumeClaim "web" cannot change from 1Gi to 1023Mi: set it back, or delete the PersistentVolumeClaim so that it is created again, without its data`},
		"the class of a claim":                 {claim, "{storageClassName: a}", "{storageClassName: b}", "spec.storageClassName of"},
		"the way a claim is mounted":           {claim, "{accessModes: [ReadWriteOnce]}", "{accessModes: [ReadWriteMany]}", "spec.accessModes[0] of"},
		"a Service that becomes headless":      {service, "{ports: []}", "{clusterIP: None, ports: []}", `spec.clusterIP of Service "web" cannot change from (none) to None`},
		"a Service that was headless":          {service, "{clusterIP: None}", "{}", "spec.clusterIP of"},
		"a Service that was only a name":       {service, "{type: ExternalName}", "{clusterIP: None}", ""},
		"a port of a Service":                  {service, "{ports: [{port: 80}]}", "{ports: [{port: 81}]}", ""},
		"the pods of a Job":                    {job, "{template: {spec: {nodeName: a}}}", "{template: {spec: {nodeName: b}}}", "spec.template.spec.nodeName of"},
		"how many pods of a Job run at a time": {job, "{parallelism: 1}", "{parallelism: 2}", ""},
		"a ConfigMap":                          {config, "data: {a: b}", "data: {a: c}", ""},
		"an immutable ConfigMap":               {config, "immutable: true, data: {a: b}", "immutable: true, data: {a: c}", `data.a of ConfigMap "web" cannot be changed`},
		"the type of a Secret":                 {secret, "type: a", "type: b", "type of Secret"},
		"the role of a binding":                {binding, "a", "b", `roleRef.name of RoleBinding "web"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			of := func(spec string) string { return strings.Replace(test.object, "SPEC", spec, 1) }
			err := Immutable(object(t, of(test.old)), object(t, of(test.rendered)))
			switch {
			case test.want == "" && err != nil:
				t.Errorf("got %v, want none", err)
			case test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)):
				t.Errorf("got %v, want %s…", err, test.want)
			}
		})
	}
}
