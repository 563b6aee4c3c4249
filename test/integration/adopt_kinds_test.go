//go:build cluster

package integration

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// fromYAML is an object of a namespace.
func fromYAML(t *testing.T, namespace, text string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	require.NoError(t, yaml.Unmarshal([]byte(text), &object.Object))
	object.SetNamespace(namespace)
	return object
}

// asksToAdopt is AppService web with a spec, and the annotation.
func asksToAdopt(t *testing.T, namespace, spec string) *v1.AppService {
	t.Helper()
	app := seedToAdopt(namespace)
	app.Spec.Ports[0].NodePort = nil
	require.NoError(t, yaml.Unmarshal([]byte(spec), &app.Spec))
	return app
}

// has returns an error unless a value contains another one; additional keys of maps are ignored.
func has(path string, value, wanted any) error {
	switch wanted := wanted.(type) {
	case map[string]any:
		content, _ := value.(map[string]any)
		for key, each := range wanted {
			if err := has(path+"."+key, content[key], each); err != nil {
				return err
			}
		}
		return nil
	case []any:
		items, _ := value.([]any)
		if len(items) != len(wanted) {
			return fmt.Errorf("%s has %d items, want %d: %v", path, len(items), len(wanted), value)
		}
		for i, each := range wanted {
			if err := has(fmt.Sprintf("%s[%d]", path, i), items[i], each); err != nil {
				return err
			}
		}
		return nil
	}
	return want(path, fmt.Sprint(value), fmt.Sprint(wanted))
}

// taken checks that an object is the same one, that a resource owns it, and its content.
func taken(t *testing.T, resource client.Object, before *unstructured.Unstructured, after string) {
	t.Helper()
	now := &unstructured.Unstructured{}
	now.SetGroupVersionKind(before.GroupVersionKind())
	cluster.Get(t, client.ObjectKeyFromObject(before), now)
	if now.GetUID() != before.GetUID() {
		t.Error("it is another object")
	}
	isClaim := now.GetKind() == "PersistentVolumeClaim" && now.GetAnnotations()[v1.AnnotationRetainedFor] == resource.GetName() // these outlive it
	if !metav1.IsControlledBy(now, resource) && !isClaim || now.GetLabels()[v1.LabelManaged] != "true" || now.GetAnnotations()[v1.AnnotationStamp] == "" {
		t.Errorf("it is not the resource's: %v", now.Object["metadata"])
	}
	for _, entry := range now.GetManagedFields() {
		if entry.Subresource == "" && !strings.HasPrefix(entry.Manager, "appservice-operator") && !strings.HasPrefix(entry.Manager, "kube-") {
			t.Errorf("%s still manages it: %s", entry.Manager, entry.FieldsV1)
		}
	}
	var wanted map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(after), &wanted))
	assert.NoError(t, has("", now.Object, wanted))
}

// An object of each kind is adopted: rendered fields replace its own, and what is not rendered stays.
func TestEachKindIsAdopted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ there, spec, after string }{
		"an Ingress": {
			there: `{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: web, annotations: {theirs: "1"}}, spec: {ingressClassName: nginx, tls: [{hosts: [a.example.com], secretName: a}],
			  rules: [{host: a.example.com}, {host: b.example.com}]}}`,
			spec:  `ingress: {className: nginx, hosts: [{host: kinds.example.com}]}`,
			after: `{metadata: {annotations: {theirs: "1"}}, spec: {tls: [{secretName: a}], rules: [{host: kinds.example.com}]}}`,
		},
		"an autoscaler": {
			there: `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web}, spec: {minReplicas: 1, maxReplicas: 9, scaleTargetRef: {apiVersion: v1, kind: ReplicationController, name: other},
			  behavior: {scaleDown: {stabilizationWindowSeconds: 77}}, metrics: [{type: Resource, resource: {name: memory, target: {type: Utilization, averageUtilization: 10}}}]}}`,
			spec: `{resources: {requests: {cpu: 50m}}, autoscaling: {minReplicas: 2, maxReplicas: 4, targetCPUUtilizationPercentage: 80}}`,
			after: `{spec: {minReplicas: 2, maxReplicas: 4, scaleTargetRef: {kind: Deployment, name: web}, behavior: {scaleDown: {stabilizationWindowSeconds: 77}},
			  metrics: [{resource: {name: cpu, target: {averageUtilization: 80}}}]}}`,
		},
		"a budget": {
			there: `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {maxUnavailable: 50%, selector: {matchLabels: {theirs: "1"}}}}`,
			spec:  `{size: 2}`,
			after: `{spec: {maxUnavailable: 1, selector: {matchLabels: {app.kubernetes.io/instance: web}}}}`,
		},
		"a ConfigMap": {
			there: `{apiVersion: v1, kind: ConfigMap, metadata: {name: web-config}, data: {GREETING: hi, THEIRS: "1"}}`,
			spec:  `config: {environment: {GREETING: hello}}`,
			after: `{data: {GREETING: hello, THEIRS: "1"}}`,
		},
		"a ServiceAccount": {
			there: `{apiVersion: v1, kind: ServiceAccount, metadata: {name: web, annotations: {role: theirs}}, automountServiceAccountToken: true, imagePullSecrets: [{name: theirs}]}`,
			spec:  `serviceAccount: {create: true}`,
			after: `{metadata: {annotations: {role: theirs}}, automountServiceAccountToken: false, imagePullSecrets: [{name: theirs}]}`,
		},
		"a claim": {
			there: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}}`,
			spec:  `persistence: {size: 1Gi, mountPath: /data, storageClassName: none}`,
			after: `{spec: {storageClassName: none, resources: {requests: {storage: 1Gi}}}}`,
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			there := fromYAML(t, namespace, test.there)
			cluster.Create(t, there)
			cluster.Manager(t, namespace)
			app := asksToAdopt(t, namespace, test.spec)
			cluster.CreateReady(t, app)
			eventually(t, app, v1.ReasonAdopted, there.GetKind()+" "+there.GetName())
			taken(t, app, there, test.after)
		})
	}
}

// An object that the API server would refuse is refused before anything is written, with the API server's message.
func TestWhatCannotBecomeAsRenderedIsNotAdopted(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ there, spec, says string }{
		"a claim of another class": {
			there: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {storageClassName: other, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}`,
			spec:  `persistence: {size: 1Gi, mountPath: /data, storageClassName: none}`, says: `of PersistentVolumeClaim "web" cannot`,
		},
		"a claim that is larger": {
			there: `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: web}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 5Gi}}}}`,
			spec:  `persistence: {size: 1Gi, mountPath: /data, storageClassName: none}`, says: `PersistentVolumeClaim "web" cannot`,
		},
		"a budget of the other sort": {
			there: `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web}, spec: {minAvailable: 1, selector: {matchLabels: {theirs: "1"}}}}`,
			spec:  `{size: 2}`, says: "minAvailable and maxUnavailable cannot be both set",
		},
		"a StatefulSet of another Service": {
			there: `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 0, serviceName: other, selector: {matchLabels: {app: web}},
			  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: x}]}}}}`,
			spec: `persistence: {perReplica: true, size: 1Gi, mountPath: /data, storageClassName: none}`, says: `of StatefulSet "web" cannot`,
		},
		"a Secret": {
			there: `{apiVersion: v1, kind: Secret, metadata: {name: web-config}, stringData: {theirs: "1"}}`,
			spec:  `config: {databaseUrl: "postgres://db"}`, says: "of a kind that is not adopted",
		},
		"a route": {
			there: `{apiVersion: gateway.networking.k8s.io/v1, kind: HTTPRoute, metadata: {name: web}, spec: {parentRefs: [{name: other}]}}`,
			spec:  `route: {parentRefs: [{name: public}], hostnames: [kinds.example.com]}`, says: "HTTPRoute web is of a kind that is not adopted",
		},
		"a route for gRPC": {
			there: `{apiVersion: gateway.networking.k8s.io/v1, kind: GRPCRoute, metadata: {name: web}, spec: {parentRefs: [{name: other}]}}`,
			spec:  `route: {kind: GRPCRoute, parentRefs: [{name: public}], hostnames: [kinds.example.com]}`, says: "GRPCRoute web is of a kind that is not adopted",
		},
		"listeners": {
			there: `{apiVersion: gateway.networking.k8s.io/v1, kind: ListenerSet, metadata: {name: web}, spec: {parentRef: {name: other}, listeners: [{name: theirs, port: 80, protocol: HTTP}]}}`,
			spec:  `route: {parentRefs: [{name: public}], hostnames: [kinds.example.com], tls: {clusterIssuer: letsencrypt}}`, says: "ListenerSet web is of a kind that is not adopted",
		},
	}
	withForeignKinds(t)
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := cluster.Namespace(t)
			there := fromYAML(t, namespace, test.there)
			cluster.Create(t, there)
			manager := cluster.Manager(t, namespace)
			mark := manager.Requests.Mark()
			app := asksToAdopt(t, namespace, test.spec)
			app.Annotations[v1.AnnotationAdoptRestart] = "true"
			cluster.Create(t, app)
			cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAdoptionRefused)
			said := ""
			for _, problem := range app.Status.Problems {
				said += problem.Message + "\n"
			}
			if !strings.Contains(said, test.says) {
				t.Errorf("nobody says %q: %s", test.says, said)
			}
			for _, write := range manager.Requests.WritesSince(mark) {
				if !strings.HasSuffix(write.Path, "/status") && !strings.HasSuffix(write.Path, "/events") {
					t.Errorf("something was written: %s", write)
				}
			}
		})
	}
}

// A StatefulSet with existing claims is adopted with its claims and its templates, which cannot change, and can be upgraded afterwards.
func TestAStatefulSetIsAdoptedWithItsClaims(t *testing.T) {
	t.Parallel()
	namespace := cluster.Namespace(t)
	set := fromYAML(t, namespace, `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: web}, spec: {replicas: 1, serviceName: web-headless, podManagementPolicy: Parallel, selector: {matchLabels: {app: web}},
	  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: app, image: x, volumeMounts: [{name: data, mountPath: /data}]}]}},
	  volumeClaimTemplates: [{metadata: {name: data, labels: {theirs: "1"}}, spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]}}`)
	cluster.Create(t, set)
	claim := fromYAML(t, namespace, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-web-0}}`)
	harness.Eventually(t, "its claim is there", func() error { return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(claim), claim) })
	cluster.Manager(t, namespace)
	app := asksToAdopt(t, namespace, `{size: 1, persistence: {perReplica: true, podManagementPolicy: Parallel, size: 1Gi, mountPath: /data, storageClassName: none}}`)
	app.Annotations[v1.AnnotationAdoptRestart] = "true"
	cluster.CreateReady(t, app)
	const after = `{spec: {serviceName: web-headless, selector: {matchLabels: {app: web}}, volumeClaimTemplates: [{metadata: {name: data, labels: {theirs: "1"}}}], template: {metadata: {labels: {app: web}}}}}`
	taken(t, app, set, after)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Image = "nginx:1.8" })
	cluster.Ready(t, app)
	taken(t, app, set, strings.Replace(after, "template: {metadata", "template: {spec: {containers: [{image: nginx:1.8}]}, metadata", 1))
	now := fromYAML(t, namespace, `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data-web-0}}`)
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(now), now); err != nil || now.GetUID() != claim.GetUID() {
		t.Errorf("the claim is another one: %v", err)
	}
}

// An AppJob adopts a CronJob; a Job that has run is not one of its kinds.
func TestWhatAnAppJobTakesOver(t *testing.T) {
	t.Parallel()
	t.Run("a CronJob", func(t *testing.T) {
		t.Parallel()
		namespace := cluster.Namespace(t)
		cron := fromYAML(t, namespace, `{apiVersion: batch/v1, kind: CronJob, metadata: {name: report}, spec: {schedule: "0 1 * * *", suspend: true,
		  jobTemplate: {spec: {template: {spec: {restartPolicy: Never, containers: [{name: theirs, image: old}]}}}}}}`)
		cluster.Create(t, cron)
		cluster.Manager(t, namespace)
		job := appJob(namespace, map[string]any{"image": "report:1", "schedule": "0 3 * * *"})
		job.SetAnnotations(map[string]string{v1.AnnotationAdopt: "true"})
		cluster.Create(t, job)
		becomesReady(t, job)
		taken(t, job, cron, `{spec: {schedule: "0 3 * * *", jobTemplate: {spec: {template: {spec: {containers: [{image: "report:1"}]}}}}}}`)
	})
	t.Run("a Job", func(t *testing.T) {
		t.Parallel()
		namespace, _ := cluster.ManagedNamespace(t)
		first := appJob(namespace, map[string]any{"image": "report:1"})
		cluster.Create(t, first)
		becomesReady(t, first)
		name := onlyOf(t, first, &batchv1.JobList{}).GetName()
		cluster.Delete(t, first, client.PropagationPolicy(metav1.DeletePropagationForeground))
		harness.Eventually(t, "the Job is gone", func() error { return gone(t, namespace, name, &batchv1.Job{}) })
		harness.Eventually(t, "the AppJob is gone", func() error { return gone(t, namespace, first.GetName(), first) })
		theirs := fromYAML(t, namespace, `{apiVersion: batch/v1, kind: Job, metadata: {name: `+name+`}, spec: {suspend: true, template: {spec: {restartPolicy: Never, containers: [{name: app, image: x}]}}}}`)
		cluster.Create(t, theirs)
		second := appJob(namespace, map[string]any{"image": "report:1"})
		second.SetAnnotations(map[string]string{v1.AnnotationAdopt: "true"})
		cluster.Create(t, second)
		cluster.Becomes(t, "it is refused", second, func() error {
			return stands(second, map[string]string{v1.ConditionReady: "False " + v1.ReasonResourceExists})
		})
	})
}

// An autoscaler and a budget of other names would affect the same pods: they are named before anything is written.
func TestRivalsStandAgainstAnAdoption(t *testing.T) {
	t.Parallel()
	namespace, label := cluster.Namespace(t), map[string]string{"app": "web"}
	was := byHand(t, namespace, label, metav1.ObjectMeta{})
	rivals := []*unstructured.Unstructured{
		fromYAML(t, namespace, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web-hpa}, spec: {maxReplicas: 2, minReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`),
		fromYAML(t, namespace, `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: web-pdb}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}}`),
	}
	bystanders := []*unstructured.Unstructured{
		fromYAML(t, namespace, `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: other-hpa}, spec: {maxReplicas: 2, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: other}}}`),
		fromYAML(t, namespace, `{apiVersion: policy/v1, kind: PodDisruptionBudget, metadata: {name: other-pdb}, spec: {maxUnavailable: 1, selector: {matchLabels: {app: other}}}}`),
	}
	for _, object := range append(rivals, bystanders...) {
		cluster.Create(t, object)
	}
	cluster.Manager(t, namespace)
	app := seedToAdopt(namespace)
	app.Spec.Size = ptr.To[int32](2)
	cluster.Create(t, app)
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonAdoptionRefused)
	said := ""
	for _, problem := range app.Status.Problems {
		said += problem.Message + "\n"
	}
	for _, words := range []string{"HorizontalPodAutoscaler web-hpa scales Deployment web, and would continue", "PodDisruptionBudget web-pdb is for pods of Deployment web"} {
		if !strings.Contains(said, words) {
			t.Errorf("nobody says %q: %s", words, said)
		}
	}
	if strings.Contains(said, "other") {
		t.Errorf("what looks after other pods is named: %s", said)
	}
	for _, object := range rivals {
		cluster.Delete(t, object)
	}
	cluster.Ready(t, app)
	adopted(t, app, was, label)
}
