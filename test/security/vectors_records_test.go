//go:build cluster

package security

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	records "github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// writesSecrets are the rights of a tenant who may write Secrets, which release records are.
var writesSecrets = []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"*"}}}

// writesRecords are the rights of a tenant to whom the admission policy for release records does not apply.
var writesRecords = append([]rbacv1.PolicyRule{
	{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appservices/status"}, Verbs: []string{"patch"}},
}, writesSecrets...)

// refusedSpec is one that no chart can render: the release in the newest record is kept alive then.
const refusedSpec = `spec: {podTemplate: {spec: {unknown: 1}}}`

// Release records are Secrets. While a spec is refused, the operator keeps the release in the newest one alive.
var _ = register(vectors{
	"a forged record makes a Deployment privileged": {
		may: writesSecrets, does: makesPrivileged,
		harm:  is("app", func(d *appsv1.Deployment) bool { return d.Spec.Template.Spec.HostPID }),
		guard: "the admission policy for release records", words: []string{"release record"},
	},
	"a forged record brings objects of another namespace": {
		may: writesRecords, does: keepsAlive(deploymentOf("VICTIM", "UID")),
		harm:  func(s *scene) error { return of(s, s.victim, "evil", anything[*appsv1.Deployment]) },
		guard: "of a record, only objects of its resource are believed", seen: says("was not rendered for this resource"),
		fixed: "namespace, owner and stamp of each object in a record are compared with those of the resource in every case",
	},
	"a forged record brings objects of another AppService": {
		may: writesRecords, does: keepsAlive(deploymentOf("NAMESPACE", "00000000-0000-0000-0000-000000000000")),
		harm:  is("evil", anything[*appsv1.Deployment]),
		guard: "of a record, only objects of its resource are believed", seen: says("was not rendered for this resource"),
		fixed: "namespace, owner and stamp of each object in a record are compared with those of the resource in every case",
	},
	"a forged record is a bomb": {
		may: writesRecords, does: func(s *scene) error { return recordsForged(s, bomb) },
		harm:  takes(bombed),
		guard: "records are unpacked up to a bound, one at a time", seen: says("has more than 8192 KiB when it is unpacked"),
		fixed: "the bound is a constant",
	},
})

// deploymentOf is the manifest of a privileged Deployment, as one rendered for AppService app.
func deploymentOf(namespace, uid string) string {
	return `---
# Source: appservice/templates/deployment.yaml
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"namespace":"` + namespace + `","name":"evil","annotations":{"` + v1.AnnotationStamp + `":"x"},"labels":{"` + v1.LabelManaged + `":"true"},
"ownerReferences":[{"apiVersion":"app.example.com/v1","kind":"AppService","name":"app","uid":"` + uid + `","controller":true}]},
"spec":{"replicas":0,"selector":{"matchLabels":{"a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{"hostPID":true,"containers":[{"name":"a","image":"a","securityContext":{"privileged":true}}]}}}}
`
}

// says returns nil once the condition Ready of AppService app contains words.
func says(words string) func(*scene) error {
	return func(s *scene) error {
		condition, err := cluster.ConditionNow(s.Context(), s.app(), v1.ConditionReady)
		if err == nil && !strings.Contains(condition.Message, words) {
			err = fmt.Errorf("Ready is %s %s: %s", condition.Status, condition.Reason, condition.Message)
		}
		return err
	}
}

// keepsAlive has the tenant create an AppService, have its spec refused, and add a record with a manifest that is newer than the operator's.
func keepsAlive(manifest string) func(*scene) error {
	return func(s *scene) error {
		return recordsForged(s, func(to io.Writer, app *v1.AppService) error {
			text := strings.ReplaceAll(s.words(manifest), "UID", string(app.UID))
			return json.NewEncoder(to).Encode(map[string]any{"name": app.Name, "version": 9, "info": map[string]any{}, "manifest": text})
		})
	}
}

// makesPrivileged has the tenant forge a record with the live Deployment, its stamp included, and privileged pods: what has the stamp of the record
// is repaired.
func makesPrivileged(s *scene) error {
	return recordsForged(s, func(to io.Writer, app *v1.AppService) error {
		live := &appsv1.Deployment{}
		if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(app), live); err != nil {
			return err
		}
		live.TypeMeta = metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}
		live.ManagedFields, live.ResourceVersion, live.UID, live.Status = nil, "", "", appsv1.DeploymentStatus{}
		live.Spec.Template.Spec.HostPID = true
		object, err := json.Marshal(live)
		if err != nil {
			return err
		}
		manifest := "---\n# Source: appservice/templates/deployment.yaml\n" + string(object) + "\n"
		return json.NewEncoder(to).Encode(map[string]any{"name": app.Name, "version": 9, "info": map[string]any{}, "manifest": manifest})
	})
}

// recordsForged does that with a record whose release is written by a function.
func recordsForged(s *scene, release func(io.Writer, *v1.AppService) error) error {
	s.begins(`{}`)
	if err := changes(refusedSpec)(s); err != nil {
		return err
	}
	cluster.Condition(s.T, s.app(), v1.ConditionReady, metav1.ConditionFalse, v1.ReasonInvalidSpec)
	app := s.app()
	if err := s.tenant.Get(s.Context(), client.ObjectKeyFromObject(app), app); err != nil {
		return err
	}
	var payload bytes.Buffer
	letters := base64.NewEncoder(base64.StdEncoding, &payload)
	compressor := gzip.NewWriter(letters)
	if err := errors.Join(release(compressor, app), compressor.Close(), letters.Close()); err != nil {
		return err
	}
	return s.tenant.Create(s.Context(), forged(app, 9, payload.Bytes()))
}

// bombed is the size of a bomb in bytes, decompressed.
const bombed = 512 << 20

// bomb writes a release of a large manifest.
func bomb(to io.Writer, app *v1.AppService) error {
	_, err := fmt.Fprintf(to, `{"name":%q,"version":9,"info":{},"manifest":"`, app.Name)
	zeros := bytes.Repeat([]byte("0"), 1<<20)
	for range bombed / len(zeros) {
		_, failed := to.Write(zeros)
		err = errors.Join(err, failed)
	}
	_, failed := io.WriteString(to, `"}`)
	return errors.Join(err, failed)
}

// takes returns nil once the heap of the process has that many bytes.
func takes(bytes uint64) func(*scene) error {
	return func(*scene) error {
		var memory runtime.MemStats
		runtime.ReadMemStats(&memory)
		if memory.HeapSys < bytes {
			return fmt.Errorf("the heap has %d MiB", memory.HeapSys>>20)
		}
		return nil
	}
}

// forged is a record of an AppService that the operator did not write.
func forged(app *v1.AppService, revision int, payload []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: app.Namespace, Name: fmt.Sprintf("%s%s.v%d", records.RecordPrefix, app.Name, revision),
			Labels: map[string]string{
				"owner": "helm", "name": app.Name, "status": "deployed", "version": fmt.Sprint(revision), v1.LabelManaged: "true", v1.LabelDigest: "x",
			},
			OwnerReferences: []metav1.OwnerReference{controlledBy(app)},
		},
		Type: records.RecordType, Data: map[string][]byte{"release": payload},
	}
}
