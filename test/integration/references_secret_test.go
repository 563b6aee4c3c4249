//go:build cluster

package integration

import (
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/test/harness"
)

// Pods show anyone who may read them that a Secret has changed, and nothing else about it, whichever process looks at it.
func TestPodsDoNotShowWhichValueASecretHas(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	database := secret(namespace, "database", "url")
	cluster.Create(t, database)
	app := harness.Seed(namespace, "web")
	app.Spec.Config = fromSecret("database")
	cluster.CreateReady(t, app)

	version := func() string {
		return deployment(t, app).Spec.Template.Annotations[postrender.AnnotationReferences]
	}
	set := func(value string) {
		t.Helper()
		cluster.Edit(t, database, func() { database.StringData = map[string]string{"url": value} })
	}
	rolled := func(what string, seen ...string) string {
		t.Helper()
		last := seen[len(seen)-1]
		harness.Eventually(t, what+": the pods roll", func() error {
			if version() == last {
				return errors.New("the pods are as they were")
			}
			return nil
		})
		cluster.Ready(t, app)
		for _, earlier := range seen {
			if version() == earlier {
				t.Errorf("%s: the pods show that an earlier value is back", what)
			}
		}
		return version()
	}
	restart := func(meanwhile func()) {
		t.Helper()
		manager.Stop(t)
		meanwhile()
		manager = cluster.Manager(t, namespace)
		manager.Synced(t)
		manager.Rest(t)
	}

	first := version()
	if first == "" {
		t.Fatal("the pods do not show which version of the Secret they have")
	}
	set("postgres://elsewhere")
	second := rolled("another value", first)
	set("postgres://") // as at first
	third := rolled("the first value again", first, second)

	restart(func() {
		cluster.Edit(t, database, func() { database.Labels = map[string]string{"touched": "yes"} })
	})
	if version() != third {
		t.Error("a label of the Secret and a restart roll the pods")
	}
	restart(func() { set("postgres://elsewhere") })
	fourth := rolled("a value of before while no operator runs", first, second, third)

	restart(func() {
		record := &corev1.Secret{}
		record.Namespace, record.Name = namespace, "sh.helm.release.v1.web.v4"
		cluster.Delete(t, record)
	})
	cluster.Condition(t, app, v1.ConditionDeployed, "True", "")
	if version() != fourth {
		t.Error("the pods roll because the record of the release is lost, although nothing changed of the Secret since it was made")
	}
}

// The cache of references leaves out Helm's records. One that a spec refers to is read, required or not.
func TestAReleaseRecordThatASpecRefersTo(t *testing.T) {
	t.Parallel()
	namespace, manager := cluster.ManagedNamespace(t)
	app := harness.Seed(namespace, "web")
	app.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "sh.helm.release.v1.optional.v1"}, Optional: ptr.To(true),
	}}}
	for _, name := range []string{"sh.helm.release.v1.optional.v1", "sh.helm.release.v1.required.v1"} {
		record := secret(namespace, name, "url")
		record.Type = "helm.sh/release.v1"
		cluster.Create(t, record)
	}
	cluster.CreateReady(t, app)
	optional := deployment(t, app).Spec.Template.Annotations[postrender.AnnotationReferences]
	if optional == "" {
		t.Error("the pods do not show which version of the optional one they have")
	}
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config = fromSecret("sh.helm.release.v1.required.v1") })
	cluster.Ready(t, app)
	cluster.Change(t, app, func(app *v1.AppService) { app.Spec.Config = fromSecret("sh.helm.release.v1.missing.v1") })
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonDependencyMissing)
	manager.Rest(t)
}
