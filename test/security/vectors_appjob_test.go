//go:build cluster

package security

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// The same attempts by an AppJob, whose kind has no type of its own: one with a schedule becomes a CronJob, and nothing runs.
var _ = register(vectors{
	"a job reads a Secret by a variable":      jobRefersTo(`envs: [{name: A, valueFrom: {secretKeyRef: {name: db, key: password}}}]`, `spec.envs[].valueFrom.secretKeyRef.name refers to Secret "db"`, variable),
	"a job reads a Secret by all variables":   jobRefersTo(`envFrom: [{secretRef: {name: db}}]`, `spec.envFrom[].secretRef.name refers to Secret "db"`, allVariables),
	"a job reads a Secret by a volume":        jobRefersTo(`volumes: [{name: a, secret: {secretName: db}}]`, `spec.volumes[].secret.secretName refers to Secret "db"`, volume),
	"a job reads a Secret by part of one":     jobRefersTo(`volumes: [{name: a, projected: {sources: [{secret: {name: db}}]}}]`, `spec.volumes[].projected.sources[].secret.name refers to Secret "db"`, projected),
	"a job pulls with a Secret":               jobRefersTo(`imagePullSecrets: [{name: db}]`, `spec.imagePullSecrets[].name refers to Secret "db"`, pulls),
	"a job reads a ConfigMap":                 jobRefersTo(`envFrom: [{configMapRef: {name: db}}]`, `spec.envFrom[].configMapRef.name refers to ConfigMap "db"`, allVariables),
	"a job mounts the data of another":        jobRefersTo(`volumes: [{name: a, persistentVolumeClaim: {claimName: db}}]`, `spec.volumes[].persistentVolumeClaim.claimName refers to PersistentVolumeClaim "db"`, volume),
	"a job is an account that may everything": jobRefersTo(`serviceAccount: {name: db, automountToken: true}`, `spec.serviceAccount.name refers to ServiceAccount "db", which you may not impersonate`, runsAs),
	"a job tolerates every taint":             jobPoliced(`tolerations: [{operator: Exists}]`, "every taint", tolerates("")),
	"a job has a volume of a driver":          jobPoliced(volumeOfJob(`csi: {driver: d.example.com}`), "volumeTypes", hasVolume(func(v corev1.Volume) bool { return v.CSI != nil })),
	"a job has a volume of iSCSI": jobPoliced(volumeOfJob(`iscsi: {targetPortal: "10.0.0.1:3260", iqn: "iqn.2001-04.com.example:a", lun: 0}`), "volumeTypes",
		hasVolume(func(v corev1.Volume) bool { return v.ISCSI != nil })),
	"a job takes over another's CronJob": {
		may: writesJobs,
		prepare: func(s *scene) {
			theirs := &batchv1.CronJob{}
			theirs.Name, theirs.Spec.Schedule = "app", "0 0 1 1 *"
			theirs.Spec.JobTemplate.Spec.Template.Spec = corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "app", Image: "trusted"}}}
			s.make(s.namespace, theirs)
		},
		does: func(s *scene) error {
			if s.off { // the administrator's is gone
				theirs := &batchv1.CronJob{}
				theirs.Namespace, theirs.Name = s.namespace, "app"
				require.NoError(s, cluster.Client.Delete(s.Context(), theirs))
			}
			return job(`image: mine`)(s)
		},
		guard: "what the AppJob does not control is never written over",
		seen:  jobIs(v1.ReasonResourceExists, `CronJob "app" exists`),
		harm:  jobPods(func(p *corev1.PodSpec) bool { return p.Containers[0].Image == "mine" }),
	},
})

// writesJobs is the right to write AppJobs.
var writesJobs = []rbacv1.PolicyRule{{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appjobs"}, Verbs: []string{"*"}}}

// job has the tenant create AppJob app with a schedule.
func job(spec string) func(*scene) error {
	return func(s *scene) error {
		job := s.appService(s.namespace, "app", "{"+spec+`, schedule: "0 0 1 1 *"}`)
		job.SetKind("AppJob")
		delete(job.Object["spec"].(map[string]any), "size")
		return s.tenant.Create(s.Context(), job)
	}
}

// jobPods returns nil if the pods of AppJob app meet a condition.
func jobPods(holds func(*corev1.PodSpec) bool) func(*scene) error {
	return is("app", func(c *batchv1.CronJob) bool { return holds(&c.Spec.JobTemplate.Spec.Template.Spec) })
}

// jobIs returns nil if AppJob app is not ready for a reason, with a message that has these words.
func jobIs(reason string, words ...string) func(*scene) error {
	return func(s *scene) error {
		job := &unstructured.Unstructured{}
		job.SetGroupVersionKind(v1.GroupVersion.WithKind("AppJob"))
		if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(s.app()), job); err != nil {
			return err
		}
		conditions, _, _ := unstructured.NestedSlice(job.Object, "status", "conditions")
		for _, entry := range conditions {
			condition, _ := entry.(map[string]any)
			if condition["type"] != v1.ConditionReady || condition["status"] != "False" || condition["reason"] != reason {
				continue
			}
			for _, word := range words {
				if message := fmt.Sprint(condition["message"]); !strings.Contains(message, word) {
					return fmt.Errorf("the refusal lacks %q: %s", word, message)
				}
			}
			return nil
		}
		return fmt.Errorf("it is not refused with %s: %v", reason, conditions)
	}
}

// jobRefersTo is refersTo for an AppJob.
func jobRefersTo(spec, words string, harm func(*corev1.PodSpec) bool) vector {
	return vector{prepare: withObjects, may: writesJobs, does: job(spec), guard: "config/admission", words: []string{words}, harm: jobPods(harm)}
}

// jobPoliced is scheduled for an AppJob.
func jobPoliced(spec, rule string, harm func(*corev1.PodSpec) bool) vector {
	return vector{
		may: writesJobs, does: job(spec), harm: jobPods(harm), guard: "the platform's policy, on rendered objects", shared: true,
		seen: jobIs(v1.ReasonPolicyViolation, "the platform's policy", rule),
	}
}

func volumeOfJob(source string) string { return fmt.Sprintf(`volumes: [{name: a, %s}]`, source) }
