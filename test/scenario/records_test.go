//go:build cluster

package scenario

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

// helmStatuses are all that Helm stores.
var helmStatuses = []string{
	"unknown", "deployed", "uninstalled", "superseded", "failed", "uninstalling", "pending-install", "pending-upgrade", "pending-rollback",
}

const (
	recordOne = "Secret/sh.helm.release.v1.web.v1"
	recordTwo = "Secret/sh.helm.release.v1.web.v2"
)

// changed is small after a change of the spec.
var changed = with(small, `image: nginx:1.28`)

// records are the incidents of T5 about release records: whatever state a record is in, the end state is the same.
func records() []incident {
	var list []incident
	for _, status := range helmStatuses {
		found := func(s *scene) {
			s.with(small)
			s.stop()
			s.mark(recordOne, status)
		}
		list = append(list,
			incident{"T5/" + status + "/same", func(s *scene) { found(s); s.resumes(small) }},
			incident{"T5/" + status + "/changed", func(s *scene) { found(s); s.want(changed); s.resumes(changed) }},
			incident{"T5/" + status + "/deleting", func(s *scene) { found(s); s.start(); s.drop("AppService"); s.gone() }},
		)
	}
	return append(list,
		incident{"T5/record-deleted/same", func(s *scene) { s.with(small); s.stop(); s.drop(recordOne); s.resumes(small) }},
		incident{"T5/record-deleted/changed", func(s *scene) { s.with(small); s.stop(); s.drop(recordOne); s.want(changed); s.resumes(changed) }},
		incident{"T5/record-deleted/refused", recordDeletedAndRefused},
		incident{"T5/record-corrupt/changed", func(s *scene) { s.with(small); s.stop(); s.corrupt("deployed"); s.want(changed); s.resumes(changed) }},
		incident{"T5/record-corrupt/pending", recordCorruptAndPending},
		incident{"T5/record-unlabeled/same", func(s *scene) { s.with(small); s.stop(); s.unlabel(recordOne); s.resumes(small) }},
		incident{"T5/record-unlabeled/changed", func(s *scene) { s.with(small); s.stop(); s.unlabel(recordOne); s.want(changed); s.resumes(changed) }},
		incident{"T5/records/older-not-marked", func(s *scene) { s.twoRecords(); s.mark(recordOne, "deployed"); s.resumes(changed) }},
		incident{"T5/records/older-pending", func(s *scene) { s.twoRecords(); s.mark(recordOne, "pending-upgrade"); s.resumes(changed) }},
		incident{"T5/records/newest-lost", func(s *scene) { s.twoRecords(); s.drop(recordTwo); s.resumes(changed) }},
		incident{"T5/foreign-release/install", foreignRelease},
		incident{"T5/too-large/upgrade", tooLarge},
		incident{"T5/operator-removed-first", func(s *scene) { s.with(whole); s.stop(); s.drop("AppService"); s.gone(); s.start() }},
		incident{"T5/namespace-terminating", namespaceTerminating},
	)
}

// resumes starts the operator, and expects the state of a fresh AppService.
func (s *scene) resumes(spec string) {
	s.Helper()
	s.fault()
	s.start()
	s.endsAs(spec)
}

// rewrite changes an object as kubectl edit does.
func (s *scene) rewrite(what string, change func(*unstructured.Unstructured)) {
	s.Helper()
	object := s.object(what)
	cluster.Edit(s.T, object, func() { change(object) })
	s.shown(s.T, object, false)
}

// mark changes the status of a release record.
func (s *scene) mark(record, status string) {
	s.Helper()
	s.rewrite(record, func(object *unstructured.Unstructured) { setStatus(s, object, status) })
}

// setStatus sets the status of a release record, in its labels and in its payload.
func setStatus(s *scene, object *unstructured.Unstructured, status string) {
	s.Helper()
	payload, _, _ := unstructured.NestedString(object.Object, "data", "release")
	release, err := decode(payload)
	if err != nil {
		s.Fatal(err)
	}
	if err := unstructured.SetNestedField(release, status, "info", "status"); err != nil {
		s.Fatal(err)
	}
	if err := unstructured.SetNestedField(object.Object, encode(s, release), "data", "release"); err != nil {
		s.Fatal(err)
	}
	labels := object.GetLabels()
	labels["status"] = status
	object.SetLabels(labels)
}

// encode is the opposite of decode.
func encode(s *scene, release map[string]any) string {
	s.Helper()
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	if err := json.NewEncoder(writer).Encode(release); err != nil {
		s.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		s.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString(zipped.Bytes())))
}

// corrupt makes the payload of the record unreadable.
func (s *scene) corrupt(status string) {
	s.Helper()
	s.rewrite(recordOne, func(object *unstructured.Unstructured) {
		setStatus(s, object, status)
		_ = unstructured.SetNestedField(object.Object, base64.StdEncoding.EncodeToString([]byte("not a release")), "data", "release")
	})
}

// unlabel removes the label by which the operator finds its objects.
func (s *scene) unlabel(what string) {
	s.Helper()
	s.do(s.T, step{edit: map[string]string{what: `{"metadata":{"labels":{"app.example.com/managed":null}}}`}})
}

// twoRecords leaves two release records, and stops the operator.
func (s *scene) twoRecords() {
	s.Helper()
	s.with(small)
	s.want(changed)
	s.endsAs(changed)
	s.stop()
}

// recordDeletedAndRefused is a running AppService whose record is gone and whose next version is refused: nothing that runs may be deleted.
func recordDeletedAndRefused(s *scene) {
	s.with(small)
	s.stop()
	s.drop(recordOne)
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: appName}}
	s.foreign(s.T, account)
	s.want(with(small, `serviceAccount: {create: true}`))
	deployment, service := s.uid("Deployment"), s.uid("Service")
	s.start()
	s.says(v1.ReasonResourceExists)
	s.still()
	if s.uid("Deployment") != deployment || s.uid("Service") != service {
		s.Errorf("what ran was deleted")
	}
	s.fault()
	if err := cluster.Client.Delete(s.Context(), account); err != nil {
		s.Fatal(err)
	}
	s.endsAs(with(small, `serviceAccount: {create: true}`))
}

// recordCorruptAndPending is a corrupt record that would be needed to continue: the operator writes another one, or asks for its deletion, which
// then helps.
func recordCorruptAndPending(s *scene) {
	s.with(small)
	s.stop()
	s.corrupt("pending-upgrade")
	s.start()
	s.still()
	app := &v1.AppService{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: appName}}
	stalled, err := cluster.ConditionNow(s.Context(), app, v1.ConditionStalled)
	if err != nil {
		s.Fatal(err)
	}
	if stalled.Reason == v1.ReasonRecordDamaged {
		s.drop(recordOne)
		s.fault()
	}
	s.endsAs(small)
}

// foreignRelease is an AppService with the name of a Helm release that the operator does not own.
func foreignRelease(s *scene) {
	release := &corev1.Secret{Type: "helm.sh/release.v1", Data: map[string][]byte{"release": []byte("theirs")}}
	release.Name = "sh.helm.release.v1.web.v1"
	release.Labels = map[string]string{"owner": "helm", "name": appName, "status": "deployed", "version": "1"}
	s.foreign(s.T, release)
	s.start()
	s.want(small)
	s.says(v1.ReasonResourceExists)
	s.still()
	if s.uid("Deployment") != "" {
		s.Error("it left objects behind")
	}
	if err := cluster.Client.Delete(s.Context(), release); err != nil {
		s.Fatal(err)
	}
	s.fault()
	s.endsAs(small)
}

// tooLarge is a release that is too large for a record.
func tooLarge(s *scene) {
	s.with(small)
	args, err := json.Marshal(map[string]any{"args": harness.Noise(140, 4<<10)})
	if err != nil {
		s.Fatal(err)
	}
	s.want(with(small, string(args)))
	s.says(v1.ReasonTooLarge)
	s.fault()
	s.want(small)
	s.endsAs(small)
}

// namespaceTerminating is a namespace that is deleted while the operator serves it.
func namespaceTerminating(s *scene) {
	s.with(whole)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := cluster.Client.Delete(s.Context(), namespace); err != nil {
		s.Fatal(err)
	}
	s.gone()
	s.still()
	if points := len(s.line.Points()); points > 60 {
		s.Errorf("it made %d requests while the namespace went", points)
	}
}
