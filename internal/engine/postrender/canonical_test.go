package postrender

import (
	"cmp"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestCanonical(t *testing.T) {
	cases := map[string]struct{ in, want string }{ // nothing wanted: it stays as it is
		"quantities in any spelling": {
			`
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    resources:
      requests: {cpu: 0.1, memory: 1024Mi, ephemeral-storage: 1}
      limits: {cpu: 1000m, memory: 0.5Gi, ephemeral-storage: 1e3}
`, `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers:
  - name: app
    resources:
      requests: {cpu: 100m, memory: 1Gi, ephemeral-storage: "1"}
      limits: {cpu: "1", memory: 512Mi, ephemeral-storage: 1k}
`},
		"nulls": {
			`
apiVersion: v1
kind: Service
metadata: {name: web, creationTimestamp: null, labels: null, annotations: {}}
spec: {type: ClusterIP, selector: null, clusterIP: null, ports: [{port: 80, name: null, nodePort: null}]}
status: null
`, `
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {type: ClusterIP, ports: [{port: 80, targetPort: 0}]}
`},
		"lists that a kind must have, left out": {in: "{apiVersion: rbac.authorization.k8s.io/v1, kind: Role, metadata: {name: web}}"},
		"a status that nobody asked for": {
			"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {}, status: {loadBalancer: {ingress: [{ip: 1.2.3.4}]}}}",
			"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {}}",
		},
		"empty maps that mean something": {in: `
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  containers: [{name: app, securityContext: {}, resources: {}}]
  volumes: [{name: scratch, emptyDir: {}}]
  securityContext: {}
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: host, labelSelector: {}}]}}
`},
		"a policy for all pods, from anywhere": {in: "{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: web}, spec: {podSelector: {}, ingress: [{}], egress: [{to: [{namespaceSelector: {}}]}]}}"},
		"a budget for all pods":                {in: "{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {selector: {}, maxUnavailable: 0}}"},
		"zeros, falses and empty texts that mean something": {in: `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 0
  revisionHistoryLimit: 0
  selector: {matchLabels: {app: ""}}
  template: {metadata: {labels: {app: ""}}, spec: {automountServiceAccountToken: false, terminationGracePeriodSeconds: 0, containers: [{name: app, resources: {}}]}}
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 25%}}
`},
		"entries of a ConfigMap, whatever they look like": {in: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: "", b: "1e3", c: "null", d: "0.1"}}`},
		"a kind of its own": {in: widget},
		"a version of a known group that is not built in": {in: "{apiVersion: apps/v9, kind: Deployment, metadata: {name: web}, spec: {cpu: 0.1, more: {}}}"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := run(t, parse(t, tc.in), Canonical)
			assert.Equal(t, asJSON(t, parse(t, cmp.Or(tc.want, tc.in)).Object), asJSON(t, got.Object))
			again := run(t, got, Canonical)
			if !reflect.DeepEqual(again, got) {
				t.Errorf("a second time it becomes %s", asJSON(t, again.Object))
			}
		})
	}
}

func TestWhatIsNoFieldOfItsKindIsRefusedByPath(t *testing.T) {
	cases := map[string]struct {
		in   string
		want []string
	}{
		"an unknown field":                {"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {tpye: ClusterIP}}", []string{`Service "web"`, "spec.tpye"}},
		"an unknown field in a list":      {"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {ports: [{port: 80}, {prot: 80}]}}", []string{`Service "web"`, "spec.ports[1].prot"}},
		"an unknown field in the pods":    {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {template: {spec: {containers: [{name: app, imagee: x}]}}}}", []string{`Deployment "web"`, "spec.template.spec.containers[0].imagee"}},
		"an unknown field of metadata":    {"{apiVersion: v1, kind: Service, metadata: {name: web, label: {}}}", []string{`Service "web"`, "metadata.label"}},
		"an unknown field at the top":     {"{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, spec: {}}", []string{`ConfigMap "web"`, "spec"}},
		"a field in other letters":        {"{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {clusterIp: None}}", []string{`Service "web"`, "spec.clusterIp"}},
		"a text where a number belongs":   {`{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: "2"}}`, []string{`Deployment "web"`}},
		"a number where a text belongs":   {"{apiVersion: v1, kind: ConfigMap, metadata: {name: web}, data: {a: 1}}", []string{`ConfigMap "web"`}},
		"a number beyond 32 bits":         {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 4294967297}}", []string{`Deployment "web"`}},
		"a quantity that is none":         {"{apiVersion: v1, kind: Pod, metadata: {name: web}, spec: {containers: [{name: app, resources: {limits: {cpu: banana}}}]}}", []string{`Pod "web"`}},
		"a secret that is not in base 64": {"{apiVersion: v1, kind: Secret, metadata: {name: web}, data: {password: 'hunter2!'}}", []string{`Secret "web"`}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			object := parse(t, tc.in)
			err := Canonical(t.Context(), &Input{Owner: owner(t)}, []*unstructured.Unstructured{parse(t, deployment), object})
			require.Error(t, err, "it was accepted, as %s", asJSON(t, object.Object))
			for _, part := range tc.want {
				assert.ErrorContains(t, err, part)
			}
			if strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error has more than one line, or a value: %v", err)
			}
		})
	}
}
