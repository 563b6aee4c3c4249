//go:build cluster

package security

import (
	"errors"
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// The task before a version has the rights of the application and nothing more: what pods may not, its pods may not, either.
var _ = register(vectors{
	"a task is privileged":                    byTask(ruled, `security: {container: {privileged: true, allowPrivilegeEscalation: true}}`, "must not be privileged", privileged),
	"a task has a capability":                 byTask(ruled, `security: {container: {capabilities: {add: [SYS_ADMIN]}}}`, "may only name those of Pod Security", capability("SYS_ADMIN")),
	"a task has a folder of the node":         byTask(ruled, `volumes: [{name: a, hostPath: {path: /}}]`, "hostPath is not allowed", hostPath),
	"a task has a sysctl":                     byTask(rendered, `security: {pod: {sysctls: [{name: kernel.msgmax, value: "65536"}]}}`, "kernel.msgmax", sysctl),
	"a task is root where that is restricted": byTask(restricted, `security: {pod: {runAsUser: 0}}`, "runAsUser", func(p *corev1.PodSpec) bool { return *p.SecurityContext.RunAsUser == 0 }),
	"a task reads a Secret by a variable": byTask(refersToPods, `envs: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]`,
		`spec.envs[].valueFrom.secretKeyRef.name refers to Secret "db"`, variable),
	"a task mounts the data of another": byTask(refersToPods, `volumes: [{name: a, persistentVolumeClaim: {claimName: db}}]`,
		`spec.volumes[].persistentVolumeClaim.claimName refers to PersistentVolumeClaim "db"`, volume),
	"a task is an account that may everything": byTask(refersToPods, `serviceAccount: {name: db, automountToken: true}`,
		`spec.serviceAccount.name refers to ServiceAccount "db", which you may not impersonate`, runsAs),
	"a task tolerates every taint":    byTask(scheduled, `tolerations: [{operator: Exists}]`, "every taint", tolerates("")),
	"a task has a volume of a driver": byTask(scheduled, volumeOfJob(`csi: {driver: d.example.com}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.CSI != nil })),
	"a stage of the tenant's choice":  reservedKey("service: {annotations: {app.example.com/stage: before}}"),
	"a task that another skips":       reservedKey("service: {annotations: {app.example.com/skip-release-task: x}}"),
	"a stage by annotations of pods":  reservedKey("podAnnotations: {app.example.com/stage: after}"),
	"the Job of another's task":       squatsJob(),
	"the ConfigMap of another's task": takesOver(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "app-release"}, Data: map[string]string{"A": "trusted"}}, `config: {environment: {A: mine}}, release: {command: [migrate]}`,
		`ConfigMap "app-release" exists`, is("app-release", func(c *corev1.ConfigMap) bool { return c.Data["A"] == "mine" })),
	"the files of another's task": takesOver(
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "app-release-files"}, Data: map[string]string{"a": "trusted"}}, `config: {files: {a: mine}}, release: {command: [migrate]}`,
		`ConfigMap "app-release-files" exists`, is("app-release-files", func(c *corev1.ConfigMap) bool { return c.Data["a"] == "mine" })),
	"the Secret of another's task": takesOver(
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "app-release"}, Data: map[string][]byte{"DATABASE_URL": []byte("trusted")}}, `config: {databaseUrl: mine}, release: {command: [migrate]}`,
		`Secret "app-release" exists`, is("app-release", func(s *corev1.Secret) bool { return string(s.Data["DATABASE_URL"]) == "mine" })),
	"the NetworkPolicy of another's task": takesOver(
		&networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Name: "app-release"}, Spec: networkingv1.NetworkPolicySpec{PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}}},
		`access: {from: []}, release: {command: [migrate]}`, `NetworkPolicy "app-release" exists`,
		is("app-release", func(p *networkingv1.NetworkPolicy) bool {
			return p.Spec.PodSelector.MatchLabels["app.kubernetes.io/instance"] == "app"
		})),
})

// byTask is a vector of another kind that tries the same for the pods of a task.
func byTask(kind func(spec, word string, harm func(*corev1.PodSpec) bool) vector, spec, word string, harm func(*corev1.PodSpec) bool) vector {
	v := kind(spec+"\nrelease: {command: [migrate]}", word, harm)
	v.harm = taskPods(harm)
	return v
}

// refersToPods is refersTo for pods.
func refersToPods(spec, words string, harm func(*corev1.PodSpec) bool) vector {
	return refersTo(spec, words, harm)
}

// taskPods returns nil if the pods of a task of AppService app meet a condition.
func taskPods(holds func(*corev1.PodSpec) bool) func(*scene) error {
	return func(s *scene) error {
		job, err := taskIn(s, s.namespace)
		if err != nil {
			return err
		}
		if !holds(&job.Spec.Template.Spec) {
			return fmt.Errorf("the pods of Job %s are not so", job.Name)
		}
		return nil
	}
}

// taskIn returns the Job that runs a task of AppService app in a namespace.
func taskIn(s *scene, namespace string) (*batchv1.Job, error) {
	list := &batchv1.JobList{}
	if err := cluster.Client.List(s.Context(), list, client.InNamespace(namespace)); err != nil {
		return nil, err
	}
	for _, job := range list.Items {
		if strings.HasPrefix(job.Name, "app-release-") {
			return &job, nil
		}
	}
	return nil, errors.New("there is no task")
}

// squatsJob is a vector that tries to get the Job of someone else, which has the name that the task gets. The name follows from what the task runs, so
// that the same AppService in another namespace shows it.
func squatsJob() vector {
	const spec = `{image: mine, release: {command: [migrate]}}`
	theirs := func(s *scene) *batchv1.Job {
		var name string
		harness.Eventually(s.T, "the name of the task is known", func() error {
			job, err := taskIn(s, s.victim)
			if err == nil {
				name = job.Name
			}
			return err
		})
		job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name}}
		job.Spec.Suspend = ptr.To(true)
		job.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "app", Image: "trusted"}}}
		return job
	}
	return vector{
		prepare: func(s *scene) {
			require.NoError(s, cluster.Client.Create(s.Context(), s.appService(s.victim, "app", spec)))
			s.make(s.namespace, theirs(s))
		},
		does: func(s *scene) error {
			if s.off { // the administrator's is gone
				require.NoError(s, cluster.Client.Delete(s.Context(), theirs(s), client.PropagationPolicy(metav1.DeletePropagationBackground)))
			}
			return applies(spec)(s)
		},
		guard: "what the AppService does not control is never written over",
		seen:  func(s *scene) error { return s.conditionOf("app", v1.ReasonResourceExists) },
		harm:  taskPods(func(p *corev1.PodSpec) bool { return p.Containers[0].Image == "mine" }),
	}
}
