package conversion

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"
)

// Workloads called web: a Deployment that mounts the claim web at /data, and StatefulSets with claims data, and with
// data and wal.
const (
	deployment = `{kind: Deployment, apiVersion: apps/v1, metadata: {name: web, namespace: shop, uid: d}, spec: {replicas: 2, template: {metadata: {labels: {a: b}}, spec: {
	  volumes: [{name: data, persistentVolumeClaim: {claimName: web}}], containers: [{name: app, volumeMounts: [{name: data, mountPath: /data}]}]}}}}`
	set = `{kind: StatefulSet, apiVersion: apps/v1, metadata: {name: web, namespace: shop, uid: s}, spec: {replicas: 2, template: {metadata: {labels: {a: b}}, spec: {
	  containers: [{name: app, volumeMounts: [{name: data, mountPath: /data}]}]}}, volumeClaimTemplates: [{metadata: {name: data}, spec: {resources: {requests: {storage: 2Gi}}}}]}}`
	bare = `{kind: Deployment, apiVersion: apps/v1, metadata: {name: web, namespace: shop, uid: d}, spec: {replicas: 2, template: {spec: {}}}}`
)

var (
	larger  = strings.Replace(set, "[{metadata: {name: data}", "[{metadata: {name: wal}}, {metadata: {name: data}", 1)
	sharing = strings.Replace(strings.Replace(deployment, "Deployment", "StatefulSet", 1), "uid: d", "uid: s", 1)
)

func into[T any](t *testing.T, text string) *T {
	t.Helper()
	out := new(T)
	require.NoError(t, yaml.Unmarshal([]byte(text), out))
	return out
}

// object is an object as from the API server, with integers.
func object(t *testing.T, text string) *unstructured.Unstructured {
	t.Helper()
	content, err := yaml.YAMLToJSON([]byte(text))
	require.NoError(t, err)
	out := &unstructured.Unstructured{}
	require.NoError(t, utiljson.Unmarshal(content, &out.Object))
	return out
}

func workload(t *testing.T, text string) *Workload {
	t.Helper()
	if text == "" {
		return nil
	}
	out, err := WorkloadOf(object(t, text))
	require.NoError(t, err)
	return out
}

// by is a workload that an AppService with a UID controls.
func by(uid, text string) string {
	return strings.Replace(text, "namespace: shop", "namespace: shop, ownerReferences: [{controller: true, kind: AppService, name: web, uid: "+uid+"}]", 1)
}

func scaled(text string, replicas int) string {
	return strings.Replace(text, "replicas: 2", fmt.Sprintf("replicas: %d", replicas), 1)
}

// app is an AppService with a UID; Ready, or not yet.
func app(t *testing.T, uid string, ready bool, more string) *unstructured.Unstructured {
	t.Helper()
	status := metav1.ConditionFalse
	if ready {
		status = metav1.ConditionTrue
	}
	return object(t, fmt.Sprintf(`{kind: AppService, apiVersion: app.example.com/v1, metadata: {name: web, namespace: shop, uid: %s, generation: 3%s},
	  status: {conditions: [{type: Ready, status: "%s", reason: Why, message: so it is, observedGeneration: 3}]}}`, uid, more, status))
}

func pods(t *testing.T, list ...string) (pods []corev1.Pod) {
	t.Helper()
	for _, text := range list {
		name, claims, ready := "", "", false
		parts := strings.Fields(text)
		name, claims, ready = parts[0], parts[1], len(parts) == 2
		var volumes []string
		for _, claim := range strings.Split(claims, ",") {
			volumes = append(volumes, "{name: x, persistentVolumeClaim: {claimName: "+claim+"}}")
		}
		pods = append(pods, *into[corev1.Pod](t, fmt.Sprintf(`{metadata: {name: %s, namespace: shop}, spec: {volumes: [%s]}, status: {conditions: [{type: Ready, status: "%s"}]}}`,
			name, strings.Join(volumes, ", "), map[bool]string{true: "True", false: "False"}[ready])))
	}
	return pods
}

func TestTheNextStep(t *testing.T) {
	const deleted = `, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [orphan]`
	old, fresh := app(t, "old", true, ""), app(t, "new", true, "")
	anyPods := []string{"web-x web"}
	wanted := app(t, "new", false, "")
	each := wanted.DeepCopy()
	require.NoError(t, unstructured.SetNestedField(each.Object, true, "spec", "persistence", "perReplica"))
	dying := strings.Replace(scaled(deployment, 0), "uid: d", `uid: d, deletionTimestamp: "2026-01-01T00:00:00Z"`, 1)
	cases := map[string]struct {
		app, wanted *unstructured.Unstructured
		live, new   string
		oldPods     []string
		pods        []string
		rest        bool
		options     Options
		applied     bool
		want        Step
	}{
		"the AppService has the old workload":          {app: old, live: by("old", deployment), new: set, oldPods: anyPods, want: Orphan},
		"also to stop first":                           {app: old, live: by("old", deployment), new: set, oldPods: anyPods, options: Options{StopFirst: true}, want: Orphan},
		"it is going":                                  {app: app(t, "old", true, deleted), live: by("old", deployment), new: set, want: Await},
		"its field cannot change":                      {app: old, wanted: each, new: set, want: Orphan},
		"it is gone":                                   {live: deployment, new: set, oldPods: anyPods, want: Apply},
		"it is gone, to stop first":                    {live: deployment, new: set, oldPods: anyPods, options: Options{StopFirst: true}, want: Stop},
		"its pods end":                                 {live: scaled(deployment, 0), new: set, oldPods: anyPods, options: Options{StopFirst: true}, want: Await},
		"the old pods keep the new ones from starting": {app: app(t, "new", false, ""), live: deployment, new: set, oldPods: anyPods, options: Options{StopFirst: true}, applied: true, want: Stop},
		"another claim: the set is in the way":         {app: app(t, "new", false, ""), live: set, new: larger, oldPods: anyPods, applied: true, want: OrphanSet},
		"its pods have ended":                          {live: scaled(deployment, 0), new: set, options: Options{StopFirst: true}, want: Apply},
		"all is gone":                                  {new: set, want: Apply},
		"the new one is there":                         {app: fresh, live: deployment, new: set, want: Apply},
		"applied, and not ready":                       {app: app(t, "new", false, ""), live: deployment, new: set, oldPods: anyPods, applied: true, want: AwaitReady},
		"ready":                                        {app: fresh, live: deployment, new: set, oldPods: anyPods, applied: true, want: Stop},
		"ready, to keep the old one":                   {app: fresh, live: deployment, new: set, oldPods: anyPods, applied: true, options: Options{KeepOld: true}, want: Done},
		"the old pods end":                             {app: fresh, live: scaled(deployment, 0), new: set, oldPods: anyPods, applied: true, want: Await},
		"the old pods have ended":                      {app: fresh, live: scaled(deployment, 0), new: set, applied: true, want: Remove},
		"the old workload is going":                    {app: fresh, live: dying, new: set, applied: true, want: Await},
		"the rest":                                     {app: fresh, new: set, applied: true, rest: true, want: Clean},
		"nothing is left":                              {app: fresh, new: set, applied: true, want: Done},
		"back, while the new one is not ready":         {app: app(t, "new", false, ""), live: by("new", set), new: deployment, want: Orphan},
		"another claim: the set goes, its pods do not": {live: set, new: larger, oldPods: anyPods, want: OrphanSet},
		"another claim: the first pod":                 {app: fresh, new: larger, pods: []string{"web-0 data-web-0", "web-1 data-web-1"}, applied: true, want: Replace},
		"another claim: it is not there again":         {app: fresh, new: larger, pods: []string{"web-1 data-web-1"}, applied: true, want: AwaitReady},
		"another claim: it is not ready":               {app: fresh, new: larger, pods: []string{"web-0 wal-web-0,data-web-0 no", "web-1 data-web-1"}, applied: true, want: AwaitReady},
		"another claim: the next pod":                  {app: fresh, new: larger, pods: []string{"web-0 wal-web-0,data-web-0", "web-1 data-web-1"}, applied: true, want: Replace},
		"another claim: all are replaced":              {app: fresh, new: larger, pods: []string{"web-0 wal-web-0,data-web-0", "web-1 data-web-1,wal-web-1"}, applied: true, want: Done},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			s := &State{Wanted: wanted, App: test.app, Old: workload(t, test.live), New: workload(t, test.new), OldPods: pods(t, test.oldPods...), Pods: pods(t, test.pods...)}
			if test.wanted != nil {
				s.Wanted = test.wanted
			}
			if test.rest {
				s.Rest = []*metav1.PartialObjectMetadata{{}}
			}
			assert.Equal(t, test.want, s.Next(test.options, test.applied))
			assert.Equal(t, test.want == Done && !test.options.KeepOld, s.Needless() && test.applied, "whether it is needless")
		})
	}
}

func TestWhatItWaitsFor(t *testing.T) {
	assert.Equal(t, "waiting until the AppService is Ready: Why: so it is", (&State{App: app(t, "new", false, "")}).Awaited())
	assert.Equal(t, "waiting until the pods of Deployment web have ended", (&State{App: app(t, "new", true, ""), Old: workload(t, scaled(deployment, 0)), OldPods: pods(t, "web-x web")}).Awaited())
}

// claim is one of 1Gi with access modes.
func claim(t *testing.T, name, modes string) corev1.PersistentVolumeClaim {
	t.Helper()
	return *into[corev1.PersistentVolumeClaim](t, fmt.Sprintf(`{metadata: {name: %s, namespace: shop}, spec: {accessModes: [%s], resources: {requests: {storage: 1Gi}}}}`, name, modes))
}

func TestWhatBecomesOfTheData(t *testing.T) {
	once := func(names ...string) (list []corev1.PersistentVolumeClaim) {
		for _, name := range names {
			list = append(list, claim(t, name, "ReadWriteOnce"))
		}
		return list
	}
	cases := map[string]struct {
		old, new string
		claims   []corev1.PersistentVolumeClaim
		want     []string
	}{
		"a volume for each replica": {deployment, set, once("web", "other", "data-web-x"),
			[]string{"web, 1Gi stays", "data-web-0, 2Gi is new", "data-web-1, 2Gi is new"}},
		"and back, to what was left": {set, deployment, once("data-web-0", "data-web-7", "web"),
			[]string{"data-web-0, 1Gi stays", "data-web-7, 1Gi stays", "web, 1Gi exists"}},
		"the same for all replicas": {deployment, sharing, once("web"), []string{"web, 1Gi is mounted again"}},
		"another one for each":      {set, larger, once("data-web-0", "data-web-1"), []string{"data-web-0, 1Gi is mounted", "data-web-1, 1Gi is mounted", "wal-web-0, 0 is new", "wal-web-1, 0 is new"}},
		"none":                      {bare, bare, once("web"), nil},
		"nothing of the old one":    {"", deployment, nil, []string{"web, for all replicas is new"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			data := (&State{Old: workload(t, test.old), New: workload(t, test.new), Claims: test.claims}).Data()
			require.Len(t, data, len(test.want), "%v", data)
			for i, claim := range data {
				assert.True(t, strings.HasPrefix(fmt.Sprintf("%s %s", claim, claim.Fate), "PersistentVolumeClaim "+test.want[i]), "got %s %s, want %s", claim, claim.Fate, test.want[i])
			}
		})
	}
}

func TestCommandsForData(t *testing.T) {
	s := &State{Old: workload(t, deployment), New: workload(t, set), OldPods: pods(t, "web-abc web"), Pods: pods(t, "web-0 data-web-0"),
		Claims: []corev1.PersistentVolumeClaim{claim(t, "web", "ReadWriteOnce"), claim(t, "data-web-0", "ReadWriteOnce")}}
	assert.Equal(t, "kubectl exec --namespace=shop web-abc --container=app -- ls -lA /data", s.ListOf(s.Data()[1]))
	assert.Equal(t, []string{"kubectl exec --namespace=shop web-abc --container=app -- tar -C /data -cf - . | " +
		"kubectl exec --namespace=shop -i web-0 --container=app -- tar -C /data -xf -"}, s.Copies())
	s.Old, s.New = workload(t, strings.ReplaceAll(deployment, "/data", "\"/data;touch${IFS}/pwned;$(id)\"")), workload(t, strings.ReplaceAll(set, "/data", "\"/data;touch${IFS}/pwned;$(id)\""))
	assert.Equal(t, "kubectl exec --namespace=shop web-abc --container=app -- ls -lA '/data;touch${IFS}/pwned;$(id)'", s.ListOf(s.Data()[1]))
	assert.Equal(t, []string{"kubectl exec --namespace=shop web-abc --container=app -- tar -C '/data;touch${IFS}/pwned;$(id)' -cf - . | " +
		"kubectl exec --namespace=shop -i web-0 --container=app -- tar -C '/data;touch${IFS}/pwned;$(id)' -xf -"}, s.Copies())
	s.OldPods = nil
	assert.Empty(t, s.ListOf(s.Data()[1]))
	assert.Empty(t, s.Copies())
}

func TestWhatPreventsAConversion(t *testing.T) {
	service := object(t, `{kind: Service, metadata: {name: web}, spec: {selector: {a: c}}}`)
	web, many, replica := claim(t, "web", "ReadWriteOnce"), claim(t, "web", "ReadWriteMany"), claim(t, "data-web-0", "ReadWriteOnce")
	owned := *replica.DeepCopy()
	owned.OwnerReferences = []metav1.OwnerReference{{UID: "s"}}
	paused := app(t, "new", false, "")
	require.NoError(t, unstructured.SetNestedField(paused.Object, true, "spec", "paused"))
	going := app(t, "old", true, `, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [x]`)
	deletes := strings.Replace(set, "volumeClaimTemplates", "persistentVolumeClaimRetentionPolicy: {whenDeleted: Delete}, volumeClaimTemplates", 1)
	cases := map[string]struct {
		app, wanted *unstructured.Unstructured
		old, new    string
		claim       *corev1.PersistentVolumeClaim
		owner       string
		options     Options
		service     *unstructured.Unstructured
		want        string // empty if nothing does
	}{
		"data stays behind":               {old: deployment, new: set, claim: &web, want: "PersistentVolumeClaim web, 1Gi: the new StatefulSet does not mount it"},
		"which is allowed":                {old: deployment, new: set, claim: &web, options: Options{LeaveData: true}},
		"both mount it":                   {old: deployment, new: sharing, claim: &web, want: "--stop-first"},
		"both may":                        {old: deployment, new: sharing, claim: &many},
		"one after the other":             {old: deployment, new: sharing, claim: &web, options: Options{StopFirst: true}},
		"the old one has stopped":         {old: scaled(deployment, 0), new: sharing, claim: &web},
		"a set with the same claim":       {old: set, new: larger, claim: &replica},
		"claims go with the set":          {old: deletes, new: bare, options: Options{LeaveData: true}, want: "set retain to true"},
		"but not if it is made again":     {old: deletes, new: larger},
		"a claim goes with the set":       {old: set, new: bare, claim: &owned, options: Options{LeaveData: true}, want: "kubectl patch pvc data-web-0 --namespace=shop"},
		"Argo CD":                         {old: bare, new: set, owner: `Argo CD application "shop"`, want: "argocd app set shop --sync-policy none"},
		"Flux":                            {old: bare, new: set, owner: `Flux Kustomization "shop"`, want: "flux suspend kustomization shop"},
		"Flux, and a chart":               {old: bare, new: set, owner: `Flux HelmRelease "shop"`, want: "flux suspend helmrelease shop"},
		"Argo CD, suspended":              {old: bare, new: set, owner: `Argo CD application "shop"`, options: Options{Suspended: true}},
		"paused":                          {wanted: paused, old: bare, new: set, want: "spec.paused is true"},
		"deleted with its objects":        {app: going, old: bare, new: set, want: "is being deleted with its objects"},
		"deleted without them":            {app: app(t, "old", true, `, deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [orphan]`), old: bare, new: set},
		"of another controller":           {app: app(t, "old", true, `, ownerReferences: [{controller: true, kind: Shop, name: a, uid: u}]`), old: by("old", bare), new: set, want: `controlled by Shop "a"`},
		"a Service that leaves the pods":  {old: deployment, new: set, service: service, want: "Service web would not select the pods of Deployment web"},
		"which is allowed to stop first":  {old: deployment, new: set, service: service, options: Options{StopFirst: true}},
		"a Service that has no pods left": {old: scaled(deployment, 0), new: set, service: service},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			s := &State{Wanted: app(t, "new", false, ""), App: test.app, Old: workload(t, test.old), New: workload(t, test.new)}
			if test.wanted != nil {
				s.Wanted = test.wanted
			}
			if test.claim != nil {
				s.Claims = []corev1.PersistentVolumeClaim{*test.claim}
			}
			var rendered []*unstructured.Unstructured
			if test.service != nil {
				rendered = append(rendered, test.service)
			}
			got := strings.Join(s.Against(test.options, test.owner, rendered), "\n")
			if test.want == "" {
				assert.Empty(t, got)
				return
			}
			assert.Contains(t, got, test.want)
			assert.NotContains(t, got, "\n", "one cause")
		})
	}
}

func TestFewerReplicasAreSaid(t *testing.T) {
	s := &State{Wanted: app(t, "new", false, ""), App: app(t, "old", true, ""), Old: workload(t, by("old", scaled(bare, 5))), New: workload(t, set)}
	assert.Equal(t, []string{"Deployment web has 5 replicas, and the new StatefulSet starts with 2: set spec.size"}, s.Warnings())
	s.Old = workload(t, by("old", bare))
	assert.Empty(t, s.Warnings())
	scales := strings.Replace(strings.Replace(set, "replicas: 2, ", "", 1), "uid: s", `uid: s, annotations: {app.example.com/initial-replicas: "1"}`, 1)
	s.New = workload(t, scales)
	assert.Len(t, s.Warnings(), 1, "autoscaled, it starts with spec.size")
}
