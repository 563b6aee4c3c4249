package plan

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/applyconfigurations"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/postrender"
)

const renderedDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
  labels: {app.example.com/managed: "true"}
  annotations: {app.example.com/rendered: one}
  ownerReferences: [{apiVersion: app.example.com/v1, kind: AppService, name: web, uid: owner, controller: true, blockOwnerDeletion: true}]
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  strategy: {}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: nginx:1.27
        args: [--verbose, --color]
        env: [{name: A, value: one}, {name: B, value: two}]
        envFrom: [{configMapRef: {name: web-config}}]
        ports: [{containerPort: 80, protocol: TCP, name: http}]
        resources: {}
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}]
      nodeSelector: {disk: ssd}
      volumes: [{name: tmp, emptyDir: {}}]
`

// The same Deployment in the API server, with defaults and status.
const liveDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: demo
  uid: d-1
  resourceVersion: "100"
  generation: 1
  creationTimestamp: "2026-01-01T00:00:00Z"
  labels: {app.example.com/managed: "true"}
  annotations: {app.example.com/rendered: one, deployment.kubernetes.io/revision: "1"}
  ownerReferences: [{apiVersion: app.example.com/v1, kind: AppService, name: web, uid: owner, controller: true, blockOwnerDeletion: true}]
spec:
  progressDeadlineSeconds: 600
  replicas: 2
  revisionHistoryLimit: 10
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: app
        image: nginx:1.27
        imagePullPolicy: IfNotPresent
        args: [--verbose, --color]
        env: [{name: A, value: one}, {name: B, value: two}]
        envFrom: [{configMapRef: {name: web-config}}]
        ports: [{containerPort: 80, protocol: TCP, name: http}]
        resources: {}
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        volumeMounts: [{name: tmp, mountPath: /tmp}]
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      securityContext: {}
      terminationGracePeriodSeconds: 30
      topologySpreadConstraints: [{topologyKey: zone, whenUnsatisfiable: ScheduleAnyway, maxSkew: 1}]
      nodeSelector: {disk: ssd}
      volumes: [{name: tmp, emptyDir: {}}]
status: {observedGeneration: 1, replicas: 2}
`

const renderedIngress = `
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: demo, annotations: {app.example.com/rendered: one}}
spec:
  rules: [{host: a.example.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}}]
  tls: [{hosts: [a.example.com], secretName: web-tls}]
`

const renderedService = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: demo, annotations: {app.example.com/rendered: one}}
spec:
  type: NodePort
  selector: {app: web}
  ports: [{port: 53, protocol: UDP, name: dns, targetPort: 5353}, {port: 53, protocol: TCP, name: dns-tcp, targetPort: 5353}]
`

const renderedBudget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: demo, annotations: {app.example.com/rendered: one}}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
`

const liveService = `
apiVersion: v1
kind: Service
metadata: {name: web, namespace: demo, uid: s-1, resourceVersion: "7", annotations: {app.example.com/rendered: one}}
spec:
  clusterIP: 10.0.0.1
  clusterIPs: [10.0.0.1]
  ipFamilies: [IPv4]
  type: NodePort
  selector: {app: web}
  ports: [{port: 53, protocol: UDP, name: dns, targetPort: 5353, nodePort: 31000}, {port: 53, protocol: TCP, name: dns-tcp, targetPort: 5353, nodePort: 31001}]
`

// edit is what someone did to a live object, and what Compare makes of it.
type edit struct {
	rendered, live string
	change         func(*testing.T, *unstructured.Unstructured)
	want           string
}

func container(path ...any) []any {
	return append([]any{"spec", "template", "spec", "containers", 0}, path...)
}

func edits() map[string]edit {
	deployment := func(want string, change func(*testing.T, *unstructured.Unstructured)) edit {
		return edit{renderedDeployment, liveDeployment, change, want}
	}
	ingress := func(want string, change func(*testing.T, *unstructured.Unstructured)) edit {
		return edit{renderedIngress, renderedIngress, change, want}
	}
	service := func(want string, change func(*testing.T, *unstructured.Unstructured)) edit {
		return edit{renderedService, liveService, change, want}
	}
	type live = unstructured.Unstructured
	const spec = "apply Deployment web: spec.template.spec."
	return map[string]edit{
		"defaults of the API server do not count": deployment("", func(*testing.T, *live) {}),

		"a changed number":   deployment("apply Deployment web: spec.replicas 7 → 2", func(t *testing.T, l *live) { put(t, l, int64(7), "spec", "replicas") }),
		"a deleted number":   deployment("apply Deployment web: spec.replicas (none) → 2", func(t *testing.T, l *live) { without(t, l, "spec", "replicas") }),
		"a changed text":     deployment(spec+"containers[app].image evil → nginx:1.27", func(t *testing.T, l *live) { put(t, l, "evil", container("image")...) }),
		"a deleted object":   deployment(spec+"volumes (none) → (1 items)", func(t *testing.T, l *live) { without(t, l, "spec", "template", "spec", "volumes") }),
		"a changed label":    deployment("apply Deployment web: metadata.labels.app.example.com/managed false → true", func(t *testing.T, l *live) { put(t, l, "false", "metadata", "labels", "app.example.com/managed") }),
		"a lost owner":       deployment("apply Deployment web: metadata.ownerReferences (none) → (1 items)", func(t *testing.T, l *live) { without(t, l, "metadata", "ownerReferences") }),
		"an owner exchanged": deployment("apply Deployment web: metadata.ownerReferences[owner] (none) → (object)", func(t *testing.T, l *live) { put(t, l, "other", "metadata", "ownerReferences", 0, "uid") }),

		"an annotation that somebody added stays": deployment("", func(t *testing.T, l *live) { put(t, l, "mine", "metadata", "annotations", "example.com/note") }),
		"a label that somebody added stays":       deployment("", func(t *testing.T, l *live) { put(t, l, "mine", "metadata", "labels", "example.com/note") }),
		"a restart by kubectl stays": deployment("", func(t *testing.T, l *live) {
			put(t, l, "now", "spec", "template", "metadata", "annotations", "kubectl.kubernetes.io/restartedAt")
		}),
		"a container that somebody added": deployment(spec+"containers[proxy] (object) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"name": "proxy", "image": "envoy"}, "spec", "template", "spec", "containers", 1)
		}),
		"a container that somebody added in front": deployment(spec+"containers[proxy] (object) → (none)", func(t *testing.T, l *live) {
			containers, _, _ := unstructured.NestedSlice(l.Object, "spec", "template", "spec", "containers")
			put(t, l, append([]any{map[string]any{"name": "proxy", "image": "envoy"}}, containers...), "spec", "template", "spec", "containers")
		}),
		"an init container that somebody added": deployment(spec+"initContainers (1 items) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"name": "first", "image": "busybox"}, "spec", "template", "spec", "initContainers", 0)
		}),
		"a variable that somebody added": deployment(spec+"containers[app].env[C] (object) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"name": "C", "value": "three"}, container("env", 2)...)
		}),
		"a volume and its mount that somebody added": deployment(spec+"containers[app].volumeMounts[/cache] (object) → (none) (and 1 more)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"name": "cache", "emptyDir": map[string]any{}}, "spec", "template", "spec", "volumes", 1)
			put(t, l, map[string]any{"name": "cache", "mountPath": "/cache"}, container("volumeMounts", 1)...)
		}),
		"a pull secret that somebody added": deployment(spec+"imagePullSecrets (1 items) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"name": "registry"}, "spec", "template", "spec", "imagePullSecrets", 0)
		}),
		"a spread constraint that somebody added": deployment(spec+"topologySpreadConstraints[host] (object) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"topologyKey": "host", "whenUnsatisfiable": "DoNotSchedule", "maxSkew": int64(1)}, "spec", "template", "spec", "topologySpreadConstraints", 1)
		}),
		"a container port that somebody added": deployment(spec+"containers[app].ports[9090] (object) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"containerPort": int64(9090), "protocol": "TCP"}, container("ports", 1)...)
		}),
		"a toleration that somebody added, where none is rendered": deployment(spec+"tolerations (1 items) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"key": "gpu", "operator": "Exists"}, "spec", "template", "spec", "tolerations", 0)
		}),
		"resources that somebody set, where none are rendered": deployment(spec+"containers[app].resources.limits (object) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"limits": map[string]any{"cpu": "1"}}, container("resources")...)
		}),

		"a deleted container": deployment(spec+"containers[app] (none) → (object) (and 1 more)", func(t *testing.T, l *live) {
			put(t, l, "renamed", container("name")...)
		}),
		"a deleted variable": deployment(spec+"containers[app].env[A] (none) → (object)", func(t *testing.T, l *live) {
			without(t, l, container("env", 0)...)
		}),
		"a variable turned into a reference": deployment(spec+"containers[app].env[A].value", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"name": "A", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "x", "key": "y"}}}, container("env", 0)...)
		}),
		"a port of another protocol": deployment(spec+"containers[app].ports[80] (none) → (object) (and 1 more)", func(t *testing.T, l *live) {
			put(t, l, "UDP", container("ports", 0, "protocol")...)
		}),
		"an argument added": deployment(spec+"containers[app].args (3 items) → (2 items)", func(t *testing.T, l *live) {
			put(t, l, "--evil", container("args", 2)...)
		}),
		"arguments in another order": deployment(spec+"containers[app].args[0]", func(t *testing.T, l *live) {
			put(t, l, []any{"--color", "--verbose"}, container("args")...)
		}),
		"an envFrom added": deployment(spec+"containers[app].envFrom (2 items) → (1 items)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"secretRef": map[string]any{"name": "evil"}}, container("envFrom", 1)...)
		}),

		"an ingress rule added": ingress("apply Ingress web: spec.rules (2 items) → (1 items)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"host": "evil.example.com"}, "spec", "rules", 1)
		}),
		"an ingress rule deleted": ingress("apply Ingress web: spec.rules (0 items) → (1 items)", func(t *testing.T, l *live) {
			put(t, l, []any{}, "spec", "rules")
		}),
		"an ingress path added": ingress("apply Ingress web: spec.rules[0].http.paths (2 items) → (1 items)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"path": "/evil", "pathType": "Prefix"}, "spec", "rules", 0, "http", "paths", 1)
		}),
		"an ingress backend changed": ingress("apply Ingress web: spec.rules[0].http.paths[0].backend.service.port.number 81 → 80", func(t *testing.T, l *live) {
			put(t, l, int64(81), "spec", "rules", 0, "http", "paths", 0, "backend", "service", "port", "number")
		}),
		"a tls entry added": ingress("apply Ingress web: spec.tls (2 items) → (1 items)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"hosts": []any{"evil.example.com"}}, "spec", "tls", 1)
		}),
		"a tls host added": ingress("apply Ingress web: spec.tls[0].hosts (2 items) → (1 items)", func(t *testing.T, l *live) {
			put(t, l, "evil.example.com", "spec", "tls", 0, "hosts", 1)
		}),

		"what the cluster allocates does not count": service("", func(*testing.T, *live) {}),
		"a service port that somebody added": service("apply Service web: spec.ports[9090] (object) → (none)", func(t *testing.T, l *live) {
			put(t, l, map[string]any{"port": int64(9090), "protocol": "TCP", "name": "metrics"}, "spec", "ports", 2)
		}),
		"ports of one number in another order": service("", func(t *testing.T, l *live) {
			ports, _, _ := unstructured.NestedSlice(l.Object, "spec", "ports")
			put(t, l, []any{ports[1], ports[0]}, "spec", "ports")
		}),
		"a service port deleted": service("apply Service web: spec.ports[53] (none) → (object)", func(t *testing.T, l *live) {
			without(t, l, "spec", "ports", 1)
		}),
		"a target port changed": service("apply Service web: spec.ports[53].targetPort 1 → 5353", func(t *testing.T, l *live) {
			put(t, l, int64(1), "spec", "ports", 1, "targetPort")
		}),

		// Selectors are one value to the API server: an entry added to them is drift.
		"a service that selects fewer pods": service("apply Service web: spec.selector", func(t *testing.T, l *live) {
			put(t, l, "mine", "spec", "selector", "tier")
		}),
		"a budget that selects fewer pods": {renderedBudget, renderedBudget, func(t *testing.T, l *live) {
			put(t, l, "mine", "spec", "selector", "matchLabels", "tier")
		}, "apply PodDisruptionBudget web: spec.selector"},
		"pods that fit fewer nodes": deployment(spec+"nodeSelector", func(t *testing.T, l *live) {
			put(t, l, "mine", "spec", "template", "spec", "nodeSelector", "tier")
		}),
	}
}

func TestCompareFindsWhatSomebodyDid(t *testing.T) {
	for name, test := range edits() {
		t.Run(name, func(t *testing.T) {
			desired, live := object(t, test.rendered), object(t, test.live)
			test.change(t, live)
			before := live.DeepCopy()
			plan := Compare([]*unstructured.Unstructured{desired}, there(live))
			got := plan.String()
			if strings.Contains(test.want, ": spec.template.") {
				if !strings.HasSuffix(got, "restarts pods)") {
					t.Errorf("got %q, which does not say that pods restart", got)
				}
				got = strings.NewReplacer(" (restarts pods)", "", "; restarts pods)", ")").Replace(got)
			}
			if strings.Contains(test.want, "→") || test.want == "" {
				if got != test.want {
					t.Errorf("got %q, want %q", got, test.want)
				}
			} else if !strings.HasPrefix(got, test.want) {
				t.Errorf("got %q, want it to begin with %q", got, test.want)
			}
			if plan.Empty() != (test.want == "") {
				t.Errorf("Empty is %t for %q", plan.Empty(), got)
			}
			if !reflect.DeepEqual(live, before) {
				t.Error("the live object was changed")
			}
		})
	}
}

// Compare finds a difference exactly where an apply would make one, or where others added to what belongs to the operator: more would never come
// to rest, less would miss drift.
func TestCompareAgreesWithServerSideApply(t *testing.T) {
	converter := applyconfigurations.NewTypeConverter(scheme.Scheme)
	for name, test := range edits() {
		t.Run(name, func(t *testing.T) {
			desired, live := object(t, test.rendered), object(t, test.live)
			test.change(t, live)
			typedLive, err := converter.ObjectToTyped(live)
			require.NoError(t, err)
			typedDesired, err := converter.ObjectToTyped(desired)
			require.NoError(t, err)
			merged, err := typedLive.Merge(typedDesired)
			require.NoError(t, err)
			difference, err := typedLive.Compare(merged)
			require.NoError(t, err)
			plan := Compare([]*unstructured.Unstructured{desired}, there(live))
			if added := !plan.Empty() && plan.Apply[0].Added; !added && plan.Empty() != difference.IsSame() {
				t.Errorf("an apply would change: %sthe plan is: %q", difference, plan)
			}
		})
	}
}

func TestCompareCreatesAppliesAndDeletes(t *testing.T) {
	text := func(stamp string, more ...string) *unstructured.Unstructured {
		o := owned(t, "ConfigMap", "web", stamp)
		for i := 0; i < len(more); i += 2 {
			put(t, o, more[i+1], "data", more[i])
		}
		return o
	}
	named := func(name string) *unstructured.Unstructured { return owned(t, "ConfigMap", name, "one") }
	going := named("going")
	now := metav1.Now()
	going.SetDeletionTimestamp(&now)
	goingAndWanted := text("one")
	goingAndWanted.SetDeletionTimestamp(&now)
	goingAndEdited := text("one", "k", "edited")
	goingAndEdited.SetDeletionTimestamp(&now)
	huge := text("one")
	put(t, huge, int64(3), "data", "x")
	floating := huge.DeepCopy()
	put(t, floating, float64(3), "data", "x")
	half := huge.DeepCopy()
	put(t, half, 3.5, "data", "x")

	cases := map[string]struct {
		rendered []*unstructured.Unstructured
		there    []client.Object
		want     string
	}{
		"nothing is rendered and nothing there": {},
		"everything is missing": {
			[]*unstructured.Unstructured{named("b"), named("a")}, nil, "create ConfigMap b; create ConfigMap a", // as rendered
		},
		"everything is as rendered": {[]*unstructured.Unstructured{named("a")}, []client.Object{named("a")}, ""},
		"what is no longer rendered goes": {
			nil, []client.Object{named("b"), named("a"), owned(t, "Service", "a", "one")}, "delete ConfigMap a; delete ConfigMap b; delete Service a",
		},
		"what is going already is not deleted again":      {nil, []client.Object{going}, ""},
		"what is going and wanted waits until it is gone": {[]*unstructured.Unstructured{text("one")}, []client.Object{goingAndWanted}, ""},
		"what is going is not written to":                 {[]*unstructured.Unstructured{text("two", "k", "new")}, []client.Object{goingAndEdited}, ""},
		"creates come before applies and deletes": {
			[]*unstructured.Unstructured{text("two"), named("new")}, []client.Object{text("one"), named("old")},
			"create ConfigMap new; apply ConfigMap web; delete ConfigMap old",
		},
		"another stamp is an apply though nothing else differs": {
			[]*unstructured.Unstructured{text("two")}, []client.Object{text("one")}, "apply ConfigMap web",
		},
		"another stamp tells of the field and not of the stamp": {
			[]*unstructured.Unstructured{text("two", "k", "new")}, []client.Object{text("one", "k", "old")}, "apply ConfigMap web: data.k",
		},
		"a field that is rendered no longer shows in the stamp": {
			[]*unstructured.Unstructured{text("two")}, []client.Object{text("one", "k", "old")}, "apply ConfigMap web",
		},
		"a lost stamp is an apply": {
			[]*unstructured.Unstructured{text("one")}, []client.Object{text("")}, "apply ConfigMap web",
		},
		"the same number as another type": {[]*unstructured.Unstructured{huge}, []client.Object{floating}, ""},
		"another number of another type":  {[]*unstructured.Unstructured{huge}, []client.Object{half}, "apply ConfigMap web: data.x"},
		"objects of one name and other kinds are told apart": {
			[]*unstructured.Unstructured{named("a")}, []client.Object{owned(t, "Service", "a", "one")}, "create ConfigMap a; delete Service a",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			plan := Compare(test.rendered, there(test.there...))
			if got := plan.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if plan.Empty() != (test.want == "") {
				t.Errorf("Empty is %t for %q", plan.Empty(), test.want)
			}
		})
	}
}

// A release that only deletes is recorded before it is carried out, since it leaves no other trace.
func TestWhetherAPlanOnlyDeletes(t *testing.T) {
	old, edited, rendered := owned(t, "ConfigMap", "old", "one"), owned(t, "ConfigMap", "web", "one"), owned(t, "ConfigMap", "web", "two")
	for name, test := range map[string]struct {
		plan *Plan
		want bool
	}{
		"it deletes":             {Compare(nil, there(old)), true},
		"it creates, too":        {Compare([]*unstructured.Unstructured{rendered}, there(old)), false},
		"it changes one, too":    {Compare([]*unstructured.Unstructured{rendered}, there(old, edited)), false},
		"it only changes one":    {Compare([]*unstructured.Unstructured{rendered}, there(edited)), false},
		"there is nothing to do": {Compare([]*unstructured.Unstructured{edited}, there(edited)), true},
	} {
		if got := test.plan.OnlyDeletes(); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
}

func TestWhatIsHeldBackIsLeftAsItIs(t *testing.T) {
	for held, want := range map[string]string{
		"new":    "apply ConfigMap edited; delete ConfigMap old",
		"edited": "create ConfigMap new; delete ConfigMap old",
		"old":    "create ConfigMap new; apply ConfigMap edited",
	} {
		t.Run(held, func(t *testing.T) {
			named := func(name, stamp string) *unstructured.Unstructured { return owned(t, "ConfigMap", name, stamp) }
			plan := Compare([]*unstructured.Unstructured{named("new", "one"), named("edited", "two")}, there(named("edited", "one"), named("old", "one")))
			plan.HoldBack(kube.KeyOf(named(held, "one")))
			if got := plan.String(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestCompareKeepsTheIdentityOfWhatIsThere(t *testing.T) {
	live := owned(t, "ConfigMap", "web", "one")
	live.SetUID("c-1")
	plan := Compare([]*unstructured.Unstructured{owned(t, "ConfigMap", "web", "two")}, there(live))
	if len(plan.Apply) != 1 || plan.Apply[0].Live.GetUID() != "c-1" {
		t.Errorf("got %+v, want one change of the object with UID c-1", plan.Apply)
	}
}

func TestCompareOfSecrets(t *testing.T) {
	secret := func(stamp, value string) *unstructured.Unstructured {
		o := owned(t, "Secret", "web-config", stamp)
		put(t, o, value, "data", "DATABASE_URL")
		return o
	}
	annotated := secret("one", "aHVzaA==")
	annotated.SetAnnotations(map[string]string{"app.example.com/rendered": "one", "example.com/note": "theirs"})
	cases := map[string]struct {
		rendered *unstructured.Unstructured
		live     client.Object
		want     string
	}{
		"its payload is not seen and the metadata is as rendered": {secret("one", "aHVzaA=="), metadata(secret("one", "c3RvbGVu")), ""},
		"its payload is not seen and was rendered otherwise":      {secret("two", "aHVzaA=="), metadata(secret("one", "c3RvbGVu")), "apply Secret web-config"},
		"its payload is not seen and others annotated it":         {secret("one", "aHVzaA=="), metadata(annotated), ""},
		"its payload is as rendered":                              {secret("one", "aHVzaA=="), secret("one", "aHVzaA=="), ""},
		"its payload was changed":                                 {secret("one", "aHVzaA=="), secret("one", "c3RvbGVu"), "apply Secret web-config: data.DATABASE_URL"},
		"its payload was rendered otherwise":                      {secret("two", "aHVzaA=="), secret("one", "c3RvbGVu"), "apply Secret web-config: data.DATABASE_URL"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			plan := Compare([]*unstructured.Unstructured{test.rendered}, there(test.live))
			if got := plan.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			for _, change := range plan.Apply {
				if change.Old != "" || change.New != "" {
					t.Errorf("the change tells values: %q and %q", change.Old, change.New)
				}
			}
		})
	}
}

// The text of a plan goes to events and to the log, which more people read than the objects.
func TestAPlanTellsWhatItAwaits(t *testing.T) {
	at := metav1.NewTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	going := func(finalizers ...string) *unstructured.Unstructured {
		o := owned(t, "ConfigMap", "web", "one")
		o.SetDeletionTimestamp(&at)
		o.SetFinalizers(finalizers)
		return o
	}
	cases := map[string]struct {
		there client.Object
		want  string
	}{
		"nothing":                          {owned(t, "ConfigMap", "web", "one"), ""},
		"an object":                        {going(), "waiting for deletion to finish before recreating: ConfigMap web (since 2026-01-02T03:04:05Z)"},
		"an object and by whom it is held": {going("a/b", "c/d"), "waiting for deletion to finish before recreating: ConfigMap web (since 2026-01-02T03:04:05Z, blocked by finalizer a/b, c/d)"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			plan := Compare([]*unstructured.Unstructured{owned(t, "ConfigMap", "web", "one")}, there(test.there))
			if got := plan.Awaits(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPlansTellNoValueThatMayBeSecret(t *testing.T) {
	cases := map[string]struct {
		path []any
		want string
	}{
		"the value of an environment variable": {container("env", 0, "value"), "spec.template.spec.containers[app].env[A].value"},
		"an argument":                          {container("args", 0), "spec.template.spec.containers[app].args[0]"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			desired, live := object(t, renderedDeployment), object(t, liveDeployment)
			put(t, desired, "canary-new", test.path...)
			put(t, live, "canary-old", test.path...)
			plan := Compare([]*unstructured.Unstructured{desired}, there(live))
			if got, want := strings.TrimSuffix(plan.String(), " (restarts pods)"), "apply Deployment web: "+test.want; got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestPlansTellTheKeysOfAConfigMapAndNotTheValues(t *testing.T) {
	for _, field := range []string{"data", "binaryData"} {
		for what, live := range map[string]any{"changed": "canary-old", "missing": nil} {
			t.Run(field+" "+what, func(t *testing.T) {
				desired, there := owned(t, "ConfigMap", "web", "one"), owned(t, "ConfigMap", "web", "one")
				put(t, desired, "canary-new", field, "tls.key")
				put(t, there, map[string]any{"other": "x"}, field)
				if live != nil {
					put(t, there, live, field, "tls.key")
				}
				change := CompareObject(desired, there)
				plan := &Plan{Apply: []Change{*change}}
				if got, want := plan.String(), "apply ConfigMap web: "+field+".tls.key"; got != want || change.Old != "" || change.New != "" {
					t.Errorf("got %q, old %q and new %q, want %q", got, change.Old, change.New, want)
				}
			})
		}
	}
}

// One field of three is named; the others are counted, and a restart of pods is always mentioned, whichever field is named.
func TestAPlanCountsFieldsAndSaysThatPodsRestart(t *testing.T) {
	cases := map[string]struct {
		paths [][]any
		want  string
	}{
		"one field, and no pods": {[][]any{{"spec", "replicas"}}, "apply Deployment web: spec.replicas 2 → 7"},
		"two fields, one of pods": {
			[][]any{{"spec", "replicas"}, {"spec", "template", "spec", "terminationGracePeriodSeconds"}},
			"apply Deployment web: spec.replicas 2 → 7 (and 1 more; restarts pods)",
		},
		"one field of pods": {
			[][]any{{"spec", "template", "spec", "terminationGracePeriodSeconds"}},
			"apply Deployment web: spec.template.spec.terminationGracePeriodSeconds 30 → 7 (restarts pods)",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			desired, live := object(t, renderedDeployment), object(t, liveDeployment)
			for _, path := range test.paths {
				put(t, desired, int64(7), path...)
			}
			if got := Compare([]*unstructured.Unstructured{desired}, there(live)).String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestPlanString(t *testing.T) {
	deployment, config := object(t, renderedDeployment), owned(t, "ConfigMap", "web", "one")
	cases := map[string]struct {
		plan Plan
		want string
	}{
		"empty":               {Plan{}, ""},
		"a create":            {Plan{Create: []*unstructured.Unstructured{config}}, "create ConfigMap web"},
		"a delete":            {Plan{Delete: []client.Object{config}}, "delete ConfigMap web"},
		"an apply":            {Plan{Apply: []Change{{Desired: deployment}}}, "apply Deployment web"},
		"a field":             {Plan{Apply: []Change{{Desired: deployment, Field: "spec.x"}}}, "apply Deployment web: spec.x"},
		"more fields":         {Plan{Apply: []Change{{Desired: deployment, Field: "spec.x", More: 1}}}, "apply Deployment web: spec.x (and 1 more)"},
		"a field with values": {Plan{Apply: []Change{{Desired: deployment, Field: "spec.x", Old: "1", New: "2"}}}, "apply Deployment web: spec.x 1 → 2"},
		"all of them": {
			Plan{Create: []*unstructured.Unstructured{config, deployment}, Apply: []Change{{Desired: deployment}, {Desired: config, Field: "data"}}, Delete: []client.Object{config}},
			"create ConfigMap web; create Deployment web; apply Deployment web; apply ConfigMap web: data; delete ConfigMap web",
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := test.plan.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestBrief(t *testing.T) {
	cases := map[string]struct {
		value any
		want  string
	}{
		"nothing":              {nil, "(none)"},
		"an object":            {map[string]any{"a": "b"}, "(object)"},
		"a list":               {[]any{"a", "b"}, "(2 items)"},
		"a number":             {int64(3), "3"},
		"a flag":               {true, "true"},
		"a text":               {"nginx:1.27", "nginx:1.27"},
		"a long text":          {strings.Repeat("a", 41), strings.Repeat("a", 40) + "…"},
		"a text of just 40":    {strings.Repeat("a", 40), strings.Repeat("a", 40)},
		"a long text in kanji": {strings.Repeat("字", 41), strings.Repeat("字", 40) + "…"},
		"several lines":        {"one\ntwo", "one two"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := brief(test.value)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if !utf8.ValidString(got) {
				t.Errorf("%q is not valid UTF-8", got)
			}
		})
	}
}

// The lists of kinds that the operator does not know are one value each, whatever they are called.
func TestCompareOfKindsThatTheOperatorDoesNotKnow(t *testing.T) {
	custom := func(list string) *unstructured.Unstructured {
		return object(t, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: web, namespace: demo}, spec: "+list+"}")
	}
	cases := map[string]struct{ rendered, live, want string }{
		"a list of texts called env":           {`{env: [A=1]}`, `{env: [A=1]}`, ""},
		"a list of numbers called ports":       {`{ports: [80, 443]}`, `{ports: [80, 443]}`, ""},
		"a list of texts called volumes, less": {`{volumes: [a, b]}`, `{volumes: [a]}`, "apply Widget web: spec.volumes (1 items) → (2 items)"},
		"lists in lists":                       {`{matrix: [[1, 2], [3]]}`, `{matrix: [[1, 2], [4]]}`, "apply Widget web: spec.matrix[1][0] 4 → 3"},
		"an object where a text was":           {`{a: {b: c}}`, `{a: text}`, "apply Widget web: spec.a"},
		"a text where an object was":           {`{a: text}`, `{a: {b: c}}`, "apply Widget web: spec.a"},
		"large numbers next to each other":     {`{a: 9007199254740993}`, `{a: 9007199254740992}`, "apply Widget web: spec.a 9007199254740992 → 9007199254740993"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			plan := Compare([]*unstructured.Unstructured{custom(test.rendered)}, there(custom(test.live)))
			if got := plan.String(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A merge key that the chart leaves out stands for the default of the API server.
func TestCompareOfPortsWithoutProtocol(t *testing.T) {
	desired, live := object(t, renderedService), object(t, liveService)
	without(t, desired, "spec", "ports", 1, "protocol")
	if plan := Compare([]*unstructured.Unstructured{desired}, there(live)); !plan.Empty() {
		t.Errorf("got %q", plan)
	}
}

func TestWithoutMetadataLeavesTheObjectAsItIs(t *testing.T) {
	o := owned(t, "ConfigMap", "web", "one")
	before := o.DeepCopy()
	if rest := withoutMetadata(o.Object); rest["metadata"] != nil || rest["kind"] != "ConfigMap" {
		t.Errorf("got %v", rest)
	}
	if !reflect.DeepEqual(o, before) || o.GetAnnotations()[postrender.AnnotationStamp] != "one" {
		t.Error("the object was changed")
	}
	if got, want := kube.KeyOf(o).String(), "ConfigMap web"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// While another release is refused, the recorded one is repaired. Nothing of it is created once anything of another one was applied: that may
// have deleted it.
func TestTheLastGoodReleaseIsRepairedAsLongAsNoOtherWasApplied(t *testing.T) {
	edited := func(object *unstructured.Unstructured) *unstructured.Unstructured {
		put(t, object, "theirs", "data", "text")
		return object
	}
	rendered := func(kind, name, stamp string) *unstructured.Unstructured {
		object := owned(t, kind, name, stamp)
		put(t, object, "ours", "data", "text")
		return object
	}
	retained := owned(t, kube.RetainedKind, "former", "former")
	retained.SetOwnerReferences(nil)
	put(t, retained, "web", "metadata", "annotations", v1.AnnotationRetainedFor)
	ahead := func(kind, name, annotation, value string) client.Object {
		object := owned(t, kind, name, "two")
		put(t, object, value, "metadata", "annotations", annotation)
		put(t, object, strings.Repeat("x", 64<<10), "data", "text")
		return kube.Remembered(object)
	}
	migrate := ahead("Job", "migrate", v1.AnnotationRerun, "true")
	migrate.(*unstructured.Unstructured).SetAPIVersion("batch/v1")
	going := owned(t, "ConfigMap", "former", "former")
	now := metav1.Now()
	going.SetDeletionTimestamp(&now)
	for name, test := range map[string]struct {
		live     []client.Object
		plan     string
		complete bool
	}{
		"nothing happened":                                  {[]client.Object{rendered("ConfigMap", "a", "one"), rendered("ConfigMap", "b", "one")}, "", true},
		"one was deleted":                                   {[]client.Object{rendered("ConfigMap", "b", "one")}, "create ConfigMap a", true},
		"one was edited":                                    {[]client.Object{edited(rendered("ConfigMap", "a", "one"))}, "create ConfigMap b; apply ConfigMap a: data.text", true},
		"another release has changed one":                   {[]client.Object{rendered("ConfigMap", "b", "two")}, "", false},
		"and the rest was edited":                           {[]client.Object{edited(rendered("ConfigMap", "a", "one")), rendered("ConfigMap", "b", "two")}, "apply ConfigMap a: data.text", false},
		"another release has one more":                      {[]client.Object{rendered("ConfigMap", "b", "one"), rendered("ConfigMap", "c", "two")}, "", false},
		"one has lost its stamp":                            {[]client.Object{rendered("ConfigMap", "b", "")}, "", false},
		"somebody made one more":                            {[]client.Object{rendered("ConfigMap", "b", "one"), rendered("ConfigMap", "c", "")}, "create ConfigMap a", false},
		"a release before has left a claim":                 {[]client.Object{rendered("ConfigMap", "b", "one"), retained}, "create ConfigMap a", true},
		"the stage before of another has a large object":    {[]client.Object{rendered("ConfigMap", "b", "one"), ahead("ConfigMap", "c", v1.AnnotationStage, "before")}, "create ConfigMap a", false},
		"another has a large Job that has rules of its own": {[]client.Object{rendered("ConfigMap", "b", "one"), migrate}, "create ConfigMap a", true},
		"an object of a release before hangs":               {[]client.Object{rendered("ConfigMap", "b", "one"), going}, "create ConfigMap a", true},
	} {
		t.Run(name, func(t *testing.T) {
			recorded := []*unstructured.Unstructured{rendered("ConfigMap", "a", "one"), rendered("ConfigMap", "b", "one")}
			plan, complete := CompareLastGood(recorded, there(test.live...))
			if plan.String() != test.plan || complete != test.complete {
				t.Errorf("got %q, complete %t, want %q, %t", plan, complete, test.plan, test.complete)
			}
		})
	}
}

// A Job of a release that was recorded ran then.
func TestNoJobIsCreatedFromARecord(t *testing.T) {
	job, web := owned(t, "Job", "migrate", "one"), owned(t, "ConfigMap", "web", "one")
	job.SetAPIVersion("batch/v1")
	plan, complete := CompareLastGood([]*unstructured.Unstructured{job, web}, nil)
	if plan.String() != "create ConfigMap web" || complete {
		t.Errorf("got %q, complete %t", plan, complete)
	}
}

// A release that was recorded before it was written is compared as a whole.
func TestWhatIsLeftToWriteOfAReturn(t *testing.T) {
	of := func(kind, name, stamp string) *unstructured.Unstructured {
		object := owned(t, kind, name, stamp)
		put(t, object, stamp, "data", "text")
		return object
	}
	recorded := []*unstructured.Unstructured{of("ConfigMap", "a", "one"), of("ConfigMap", "b", "one")}
	for name, test := range map[string]struct {
		live     []client.Object
		plan     string
		restamps bool
	}{
		"nothing":              {[]client.Object{of("ConfigMap", "a", "one"), of("ConfigMap", "b", "one")}, "", false},
		"all":                  {[]client.Object{of("ConfigMap", "a", "two"), of("ConfigMap", "c", "two")}, "create ConfigMap b; apply ConfigMap a: data.text; delete ConfigMap c", true},
		"what somebody edited": {[]client.Object{of("ConfigMap", "b", "one")}, "create ConfigMap a", false},
	} {
		t.Run(name, func(t *testing.T) {
			plan, complete := CompareReturned(recorded, there(test.live...))
			if plan.String() != test.plan || !complete || plan.Restamps() != test.restamps {
				t.Errorf("got %q, complete %t, restamps %t", plan, complete, plan.Restamps())
			}
		})
	}
	job := owned(t, "Job", "migrate", "one")
	job.SetAPIVersion("batch/v1")
	if plan, complete := CompareReturned([]*unstructured.Unstructured{job}, nil); !plan.Empty() || complete {
		t.Errorf("a Job would run again: %q", plan)
	}
}
