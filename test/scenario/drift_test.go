//go:build cluster

package scenario

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
)

// rendered is an object that the chart renders, with an AppService that has it and an edit of a rendered field.
type rendered struct{ what, spec, edit string }

const relabeled = `{"metadata":{"labels":{"app.kubernetes.io/instance":"other"}}}`

var renderedKinds = []rendered{
	{"Deployment", whole, `{"spec":{"template":{"spec":{"containers":[{"name":"app","image":"nginx:evil"}]}}}}`},
	{"Service", whole, `{"spec":{"ports":[{"name":"http","port":81,"targetPort":81,"protocol":"TCP"}]}}`},
	{"ConfigMap/web-config", whole, `{"data":{"GREETING":"evil"}}`},
	{"Secret/web-config", whole, `{"data":{"DATABASE_URL":"ZXZpbA=="}}`},
	{"Ingress", whole, `{"spec":{"rules":[{"host":"evil.example.com"}]}}`},
	{"NetworkPolicy", whole, `{"spec":{"ingress":[{"from":[{"podSelector":{}}]}]}}`},
	{"PodDisruptionBudget", whole, `{"spec":{"maxUnavailable":7}}`},
	{"ServiceAccount", whole, relabeled},
	{"HorizontalPodAutoscaler", with(small, autoscaled), `{"spec":{"maxReplicas":9}}`},
	{"PersistentVolumeClaim", with(small, letGo), relabeled},
	{"PersistentVolumeClaim", with(small, kept), relabeled},
}

// everyKind renders an object of each kind, and runs no pod.
const everyKind = `
size: 0
image: nginx:1.7.9
ports: [{name: http, port: 80, targetPort: 80}]
command: [nginx]
args: [-g]
envs: [{name: PLAIN, value: plain}]
config: {environment: {GREETING: hello}, databaseUrl: "postgres://x"}
ingress: {className: nginx, annotations: {example.com/rendered: "yes"}, hosts: [{host: NAMESPACE.example.com}]}
route: {parentRefs: [{name: public}], hostnames: [NAMESPACE.example.com]}
resources: {requests: {cpu: 10m}}
autoscaling: {maxReplicas: 3, behavior: {scaleDown: {selectPolicy: Disabled}}}
podDisruptionBudget: {enabled: true}
persistence: {size: 1Gi, mountPath: /data, storageClassName: none}
serviceAccount: {create: true}
networkPolicy: {enabled: true}
monitoring: {enabled: true}
`

// edits are those of rendered fields by others, with the event of their repair: of each kind, and of each form.
var edits = map[string]struct{ what, edit, event, with string }{
	"Deployment":              {"Deployment", `{"spec":{"template":{"spec":{"terminationGracePeriodSeconds":99}}}}`, "apply Deployment web: spec.template.spec.terminationGracePeriodSeconds 99 → 30", ""},
	"Service":                 {"Service", `{"spec":{"ports":[{"name":"http","port":80,"targetPort":81}]}}`, "apply Service web: spec.ports[80].targetPort 81 → http", ""},
	"Ingress":                 {"Ingress", `{"spec":{"ingressClassName":"other"}}`, "apply Ingress web: spec.ingressClassName other → nginx", ""},
	"HTTPRoute":               {"HTTPRoute", `{"spec":{"hostnames":["other.example.com"]}}`, "apply HTTPRoute web: spec.hostnames[0] other.example.com → NAMESPACE.example.com", ""},
	"GRPCRoute":               {"GRPCRoute", `{"spec":{"hostnames":["other.example.com"]}}`, "apply GRPCRoute web: spec.hostnames[0] other.example.com → NAMESPACE.example.com", `route: {kind: GRPCRoute}`},
	"ListenerSet":             {"ListenerSet", `{"spec":{"parentRef":{"name":"other"}}}`, "apply ListenerSet web: spec.parentRef.name", `route: {tls: {clusterIssuer: letsencrypt}}`},
	"ConfigMap":               {"ConfigMap/web-config", `{"data":{"GREETING":"tampered"}}`, "apply ConfigMap web-config: data.GREETING", ""},
	"Secret":                  {"Secret/web-config", `{"data":{"DATABASE_URL":"dGFtcGVyZWQ="}}`, "apply Secret web-config: data.DATABASE_URL", ""},
	"HorizontalPodAutoscaler": {"HorizontalPodAutoscaler", `{"spec":{"maxReplicas":9}}`, "apply HorizontalPodAutoscaler web: spec.maxReplicas 9 → 3", ""},
	"ScaledObject":            {"ScaledObject", `{"spec":{"maxReplicaCount":9}}`, "apply ScaledObject web: spec.maxReplicaCount 9 → 3", `autoscaling: {triggers: [{type: cron}], behavior: null}`},
	"PodDisruptionBudget":     {"PodDisruptionBudget", `{"spec":{"maxUnavailable":2}}`, "apply PodDisruptionBudget web: spec.maxUnavailable 2 → 1", ""},
	"PersistentVolumeClaim":   {"PersistentVolumeClaim", relabeled, "apply PersistentVolumeClaim web: metadata.labels.app.kubernetes.io/instance other → web", `persistence: {retain: false}`},
	"retained claim":          {"PersistentVolumeClaim", relabeled, "apply PersistentVolumeClaim web: metadata.labels.app.kubernetes.io/instance other → web", ""},
	"ServiceAccount":          {"ServiceAccount", `{"automountServiceAccountToken":true}`, "apply ServiceAccount web: automountServiceAccountToken true → false", ""},
	"NetworkPolicy":           {"NetworkPolicy", `{"spec":{"ingress":[{"ports":[{"port":81,"protocol":"TCP"}]}]}}`, "apply NetworkPolicy web: spec.ingress[0].ports[0].port 81 → http", ""},
	"ServiceMonitor":          {"ServiceMonitor", `{"spec":{"endpoints":[{"targetPort":"http","path":"/other"}]}}`, "apply ServiceMonitor web: spec.endpoints[0].path /other → /metrics", ""},

	"number of replicas":           {"Deployment", `{"spec":{"replicas":7}}`, "apply Deployment web: spec.replicas 7 → 0", `{autoscaling: null, persistence: null}`},
	"label taken off":              {"Service", `{"metadata":{"labels":{"app.kubernetes.io/instance":null}}}`, "apply Service web: metadata.labels.app.kubernetes.io/instance (none) → web", ""},
	"annotation taken off":         {"Ingress", `{"metadata":{"annotations":{"example.com/rendered":null}}}`, "apply Ingress web: metadata.annotations.example.com/rendered", ""},
	"stamp taken off":              {"Service", `{"metadata":{"annotations":{"app.example.com/rendered":null}}}`, "apply Service web", ""},
	"owner reference taken off":    {"Service", `{"metadata":{"ownerReferences":null}}`, "create Service web", ""},
	"owner of a Secret taken off":  {"Secret/web-config", `{"metadata":{"ownerReferences":null}}`, "create Secret web-config", ""},
	"managed label taken off":      {"Service", `{"metadata":{"labels":{"app.example.com/managed":null}}}`, "create Service web", ""},
	"all of these taken off":       {"Deployment", `{"metadata":{"ownerReferences":null,"labels":null}}`, "create Deployment web", ""},
	"mark of a claim taken off":    {"PersistentVolumeClaim", `{"metadata":{"annotations":{"app.example.com/retained-for":null}}}`, "create PersistentVolumeClaim web", ""},
	"field removed":                {"Ingress", `{"spec":{"ingressClassName":null}}`, "apply Ingress web: spec.ingressClassName (none) → nginx", ""},
	"entry added to a selector":    {"Service", `{"spec":{"selector":{"extra":"x"}}}`, "apply Service web: spec.selector.extra x → (none)", ""},
	"rule added to a policy":       {"NetworkPolicy", `{"spec":{"ingress":[{"ports":[{"port":"http","protocol":"TCP"}]},{}]}}`, "apply NetworkPolicy web: spec.ingress (2 items) → (1 items)", ""},
	"environment variable changed": {"Deployment", `[{"op":"replace","path":"/spec/template/spec/containers/0/env/2/value","value":"tampered"}]`, "apply Deployment web: spec.template.spec.containers[app].env[PLAIN].value", ""},
	"arguments changed":            {"Deployment", `[{"op":"replace","path":"/spec/template/spec/containers/0/args/0","value":"tampered"}]`, "apply Deployment web: spec.template.spec.containers[app].args[0]", ""},
	"command changed":              {"Deployment", `[{"op":"replace","path":"/spec/template/spec/containers/0/command/0","value":"tampered"}]`, "apply Deployment web: spec.template.spec.containers[app].command[0]", ""},
}

// additions are those of others to what the operator does not render: they stay, also with the next release.
var additions = map[string]struct{ what, edit, field, want, with string }{
	"pods restarted by kubectl":           {"Deployment", `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"mine"}}}}}`, "spec.template.metadata.annotations.kubectl.kubernetes.io/restartedAt", "mine", ""},
	"pods restarted by a console":         {"Deployment", `{"spec":{"template":{"metadata":{"annotations":{"cattle.io/timestamp":"2026-01-01T00:00:00Z"}}}}}`, "spec.template.metadata.annotations.cattle.io/timestamp", "2026-01-01T00:00:00Z", ""},
	"pods restarted for a rotated secret": {"Deployment", `{"spec":{"template":{"metadata":{"annotations":{"vso.secrets.hashicorp.com/restartedAt":"1795904102"}}}}}`, "spec.template.metadata.annotations.vso.secrets.hashicorp.com/restartedAt", "1795904102", ""},
	"certificate manager annotates":       {"Ingress", `{"metadata":{"annotations":{"cert-manager.io/alt-names":"mine"}}}`, "metadata.annotations.cert-manager.io/alt-names", "mine", ""},
	"label added":                         {"Service", `{"metadata":{"labels":{"example.com/team":"mine"}}}`, "metadata.labels.example.com/team", "mine", ""},
	"field that is not rendered is set":   {"Service", `{"spec":{"publishNotReadyAddresses":true}}`, "spec.publishNotReadyAddresses", "true", ""},
	"key added to a ConfigMap":            {"ConfigMap/web-config", `{"data":{"MINE":"mine"}}`, "data.MINE", "mine", ""},
	"number of replicas while autoscaled": {"Deployment", `{"spec":{"replicas":2}}`, "spec.replicas", "2", `persistence: null`}, // the pods of this one run
}

// filled are the objects with fields that the cluster fills in: they stay with the next release.
var filled = map[string]struct{ object, with string }{
	"node port and cluster IP": {"Service web", `service: {type: NodePort}`},
	"volume of a claim":        {"PersistentVolumeClaim web", "{}"},
	"defaults":                 {"NetworkPolicy web", "{}"},
}

// TestDrift plays edits, deletions and additions by others, of objects of other projects, too. docs/drift.md names its cases.
func TestDrift(t *testing.T) {
	for _, kind := range ofOthers {
		cluster.Install(t, files.CRD(t, "test/testdata/fixtures/crds/"+kind.Group+"_"+strings.ToLower(kind.Kind)+"s.yaml"))
		require.NoError(t, seen.watch(t.Context(), kind))
	}
	kinds = append(kinds, ofOthers...)
	shared(t, together)
	newPlayer().learn(t, driftScenarios())
}

// driftScenarios are edits, deletions and additions by others, which run no pod.
func driftScenarios() (list []scenario) {
	for name, edited := range edits {
		spec := with(everyKind, cmp.Or(edited.with, "{}"))
		list = append(list, scenario{name: "drift/" + name, once: true, given: []step{{spec: spec}}, steps: []step{{
			edit: map[string]string{edited.what: edited.edit}, undone: []string{edited.what},
			expect: expectation{same: true, events: []string{edited.event}, silent: []string{"tampered", "dGFtcGVyZWQ"}},
		}}})
		if kind, object, _ := strings.Cut(edited.what, "/"); kind == name || name == "retained claim" {
			list = append(list, scenario{name: "deleted/" + name, once: true, given: []step{{spec: spec}}, steps: []step{{
				remove: []string{edited.what},
				expect: expectation{same: true, events: []string{"create " + kind + " " + cmp.Or(object, appName)}},
			}}})
		}
	}
	for name, added := range additions {
		spec, kind := with(everyKind, cmp.Or(added.with, "{}")), strings.Replace(added.what, "/", " ", 1)
		if kind == added.what {
			kind += " " + appName
		}
		stays := expectation{fields: map[string]string{kind + "." + added.field: added.want}, silent: []string{"DriftCorrected"}}
		list = append(list, scenario{name: "added/" + name, once: true, given: []step{{spec: spec}}, steps: []step{
			{edit: map[string]string{added.what: added.edit}, expect: stays},
			{spec: with(spec, `commonLabels: {example.com/release: next}`), expect: stays},
		}})
	}
	held := func(finalizers string) map[string]string {
		return map[string]string{"ConfigMap/web-config": `{"metadata":{"finalizers":` + finalizers + `}}`}
	}
	list = append(list, scenario{name: "deleted/held by a finalizer", once: true, given: []step{{spec: whole}}, steps: []step{
		{edit: held(`["example.com/hold"]`)},
		{remove: []string{"ConfigMap/web-config"}, ready: metav1.ConditionFalse, reason: v1.ReasonPending, says: "blocked by finalizer example.com/hold)",
			expect: expectation{requests: []string{"patch appservices/web/status"}}},
		{edit: held("null"), expect: expectation{events: []string{"create ConfigMap web-config"}}},
	}})
	for name, kept := range filled {
		spec := with(everyKind, kept.with)
		list = append(list, scenario{name: "filled/" + name, once: true, given: []step{{spec: spec}}, steps: []step{
			{spec: with(spec, `commonLabels: {example.com/release: next}`), expect: expectation{keeps: kept.object}},
		}})
	}
	return list
}

// drift are the incidents of T6 in which another client changes objects of the operator.
func drift() []incident {
	var list []incident
	for i, kind := range renderedKinds {
		name := fmt.Sprintf("T6/%02d-%s/", i+1, kind.what)
		for what, step := range map[string]step{
			"deleted":   {remove: []string{kind.what}},
			"edited":    {edit: map[string]string{kind.what: kind.edit}},
			"unlabeled": {edit: map[string]string{kind.what: `{"metadata":{"labels":{"app.example.com/managed":null}}}`}},
			"disowned":  {edit: map[string]string{kind.what: `{"metadata":{"ownerReferences":null}}`}},
		} {
			list = append(list, incident{name + what, func(s *scene) { drifts(s, kind, step) }})
		}
	}
	return append(list,
		incident{"T6/replicas-of-the-autoscaler", replicasOfTheAutoscaler},
		incident{"T6/rollout-restart", rolloutRestart},
	)
}

func drifts(s *scene, kind rendered, step step) {
	s.with(kind.spec)
	uid := s.uid(kind.what)
	s.line.Start()
	s.fault()
	s.do(s.T, step)
	s.endsAs(kind.spec)
	if deleted := len(step.remove) > 0; deleted == (s.uid(kind.what) == uid) {
		s.Errorf("%s had the UID %s and has %s", kind.what, uid, s.uid(kind.what))
	}
}

// replicasOfTheAutoscaler is owned by another controller: neither a repair nor an upgrade changes it.
func replicasOfTheAutoscaler(s *scene) {
	// Without load it would scale down again after five minutes, which a slow machine needs for this test.
	scaled := with(autoscaled, `autoscaling: {behavior: {scaleDown: {selectPolicy: Disabled}}}`)
	s.with(with(small, scaled))
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: appName}}
	scale := &autoscalingv1.Scale{Spec: autoscalingv1.ScaleSpec{Replicas: 4}}
	if err := cluster.Client.SubResource("scale").Update(s.Context(), deployment, client.WithSubResourceBody(scale)); err != nil {
		s.Fatal(err)
	}
	s.still()
	s.drop("Service")
	s.want(with(with(small, scaled), `image: nginx:1.28`))
	s.ends(deployment, func() error {
		if *deployment.Spec.Replicas != 4 || deployment.Status.UpdatedReplicas != 4 || deployment.Spec.Template.Spec.Containers[0].Image != "nginx:1.28" {
			return fmt.Errorf("%d replicas, %d updated, want 4 of the new image", *deployment.Spec.Replicas, deployment.Status.UpdatedReplicas)
		}
		return nil
	})
}

// rolloutRestart is what kubectl writes into the pod template: it is left as it is.
func rolloutRestart(s *scene) {
	const key = "kubectl.kubernetes.io/restartedAt"
	s.with(small)
	s.do(s.T, step{edit: map[string]string{"Deployment": `{"spec":{"template":{"metadata":{"annotations":{"` + key + `":"2026-01-01T00:00:00Z"}}}}}`}})
	s.still()
	s.want(changed)
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: appName}}
	s.ends(deployment, func() error {
		if deployment.Spec.Template.Annotations[key] == "" || deployment.Spec.Template.Spec.Containers[0].Image != "nginx:1.28" {
			return fmt.Errorf("the pod template is %+v", deployment.Spec.Template)
		}
		return nil
	})
}

// ends waits until an object is as desired, no request is made any more, and the status is true.
func (s *scene) ends(object client.Object, check func() error) {
	s.Helper()
	kind, err := apiutil.GVKForObject(object, cluster.Client.Scheme())
	if err != nil {
		s.Fatal(err)
	}
	harness.Eventually(s.T, kind.Kind+" is as it is to be", func() error {
		if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object); err != nil {
			return err
		}
		if err := check(); err != nil {
			return err
		}
		var objects map[string]*unstructured.Unstructured
		if objects, err = seen.objects(s.Context(), s.namespace); err != nil {
			return err
		}
		return s.over(step{}, objects)
	})
	s.still()
	if err := check(); err != nil {
		s.Error(err)
	}
}
