//go:build cluster

package integration

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
)

const autoscalers = "horizontalpodautoscalers"

// A missing right for one kind affects the AppServices that use the kind. They name it, all others are served, and
// the operator is ready and ends on SIGTERM.
func TestAKindThatMayNotBeListed(t *testing.T) {
	t.Parallel()
	account := newAccount(t)
	account.allow(t, autoscalers)
	process := account.run(t)
	process.isReady(t)

	plain, scaled := harness.Seed(account.Namespace, "plain"), autoscaled(account.Namespace)
	cluster.Create(t, plain)
	cluster.Create(t, scaled)
	cluster.Ready(t, plain)
	staysAsItsSpecSays(t, plain)
	namesTheRight(t, scaled, "list and watch", func() {})

	account.allow(t)
	becomesAutoscaled(t, scaled)

	account.allow(t, autoscalers)
	namesTheRight(t, scaled, "list and watch", process.proxy.Break) // a watch that began before continues
	get(t, scaled, &autoscalingv2.HorizontalPodAutoscaler{})        // what cannot be listed is not taken for deleted, nor for an orphan
	staysAsItsSpecSays(t, plain)
	process.ends(t)
}

// A kind that may be watched and not written is named as well, by the first verb that is missing.
func TestAKindThatMayNotBeWritten(t *testing.T) {
	t.Parallel()
	account := newAccount(t)
	reads := rbacv1.PolicyRule{APIGroups: []string{"autoscaling"}, Resources: []string{autoscalers}, Verbs: []string{"get", "list", "watch"}}
	account.set(t, append(account.without(autoscalers), reads))
	process := account.run(t)
	process.isReady(t)

	plain, scaled := harness.Seed(account.Namespace, "plain"), autoscaled(account.Namespace)
	cluster.Create(t, plain)
	cluster.Create(t, scaled)
	cluster.Ready(t, plain)
	namesTheRight(t, scaled, "patch", func() {})
	staysAsItsSpecSays(t, plain)

	account.allow(t)
	becomesAutoscaled(t, scaled)
	process.ends(t)
}

// An upgrade deletes objects that are no longer rendered. If a right is missing before it is complete, what it has
// deleted is not created again, as keeping the whole recorded release alive would do; what it has not reached is
// repaired.
func TestWhatAnUpgradeDeletedStaysAwayWhileARightIsMissing(t *testing.T) {
	t.Parallel()
	account := newAccount(t)
	account.allow(t)
	first := account.run(t)
	scaled := autoscaled(account.Namespace)
	scaled.Spec.ServiceAccount = &v1.ServiceAccount{Create: ptr.To(true)}
	cluster.CreateReady(t, scaled)
	first.ends(t)

	cluster.Change(t, scaled, func(app *v1.AppService) { app.Spec.ServiceAccount, app.Spec.Image = nil, "nginx:1.28" })
	deleted := named(scaled, &corev1.ServiceAccount{})
	cluster.Delete(t, deleted)
	stamped := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"annotations":{"`+v1.AnnotationStamp+`":"of the upgrade"}}}`))
	cluster.Patch(t, named(scaled, &appsv1.Deployment{}), stamped)
	account.allow(t, autoscalers)
	second := account.run(t)
	namesTheRight(t, scaled, "list and watch", func() {})
	service := named(scaled, &corev1.Service{})
	cluster.Patch(t, service, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"app.kubernetes.io/instance":"another"}}}`)))
	cluster.Becomes(t, "the Service is repaired", service, func() error {
		return want("label", service.Labels["app.kubernetes.io/instance"], scaled.Name)
	})
	if err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(deleted), deleted); !apierrors.IsNotFound(err) {
		t.Errorf("got the ServiceAccount %v and error %v, want none", deleted.UID, err)
	}
	account.allow(t)
	cluster.Ready(t, scaled)
	second.ends(t)
}

// An operator that may not even list its own kind waits for the right, and ends on SIGTERM.
func TestTheOwnKindMayNotBeListed(t *testing.T) {
	t.Parallel()
	account := newAccount(t)
	account.allow(t, "appservices")
	process := account.run(t)
	harness.Eventually(t, "the API server refuses the kind twice", func() error { // before it tries again, the operator has logged the first refusal
		if asked := process.proxy.Requests.Of("appservices"); len(asked) < 2 || !asked[1].Forbidden {
			return fmt.Errorf("the operator has sent %v", asked)
		}
		return nil
	})
	if code, text := process.readyz(); code != http.StatusInternalServerError || !strings.Contains(text, "[-]AppService.app.example.com failed") {
		t.Errorf("the probe says %d %s", code, text)
	}
	process.ends(t)
	if right := "the operator may not list and watch app.example.com/appservices"; !strings.Contains(process.Output.String(), right) {
		t.Errorf("the log does not name %s: %s", right, process.Output.String())
	}
}

// account is a service account of its own namespace, with a Role there.
type account struct {
	*corev1.ServiceAccount
	rules []rbacv1.PolicyRule
}

func newAccount(t *testing.T) *account {
	t.Helper()
	inNamespaces, _ := bundled(t)
	a := &account{&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Namespace(t), Name: "operator"}}, inNamespaces.Rules}
	cluster.Create(t, a.ServiceAccount)
	return a
}

// allow grants the account the rights of the bundle, without some resources, and waits until that is in effect.
func (a *account) allow(t *testing.T, without ...string) {
	t.Helper()
	a.set(t, a.without(without...))
}

// without returns the rights of the bundle, without some resources.
func (a *account) without(resources ...string) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, rule := range a.rules {
		rule.Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(resource string) bool { return slices.Contains(resources, resource) })
		if len(rule.Resources) > 0 {
			rules = append(rules, rule)
		}
	}
	return rules
}

// set grants the account these rules.
func (a *account) set(t *testing.T, rules []rbacv1.PolicyRule) {
	t.Helper()
	grant(t, a.ServiceAccount, a.Namespace, rules)
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Namespace: a.Namespace, Name: a.Namespace}}
	cluster.Edit(t, role, func() { role.Rules = rules })
}

// process is the operator's program, with the rights of an account.
type process struct {
	*harness.Process
	proxy *harness.Proxy
	probe string
}

func (a *account) run(t *testing.T) *process {
	t.Helper()
	probe := harness.FreeAddress(t)
	proxy := as(a.ServiceAccount).NewProxy(t)
	return &process{harness.Run(t, proxy.Kubeconfig, "--watch-namespaces="+a.Namespace, "--health-probe-bind-address="+probe), proxy, probe}
}

// readyz is the answer of the readiness probe, 0 if none.
func (p *process) readyz() (code int, text string) {
	answer, err := http.Get("http://" + p.probe + "/readyz?verbose=1")
	if err != nil {
		return 0, err.Error()
	}
	defer func() { _ = answer.Body.Close() }()
	body, _ := io.ReadAll(answer.Body)
	return answer.StatusCode, string(body)
}

func (p *process) isReady(t *testing.T) {
	t.Helper()
	begin := time.Now()
	harness.Eventually(t, "the operator is ready", func() error {
		if code, text := p.readyz(); code != http.StatusOK {
			return fmt.Errorf("the probe says %d %s", code, text)
		}
		return nil
	})
	t.Logf("ready after %s", time.Since(begin).Round(time.Millisecond))
}

// ends sends SIGTERM to the process. Patience is longer than the grace period of the manager's pod.
func (p *process) ends(t *testing.T) {
	t.Helper()
	begin := time.Now()
	p.Signal(syscall.SIGTERM)
	select {
	case <-p.Ended():
		t.Logf("ended after %s", time.Since(begin).Round(time.Millisecond))
	case <-time.After(harness.Patience):
		p.Signal(syscall.SIGQUIT) // prints all goroutines
		<-p.Ended()
		t.Fatalf("it did not end within %s:\n%s", harness.Patience, p.Output.String())
	}
	if code := p.State().ExitCode(); code != 0 {
		t.Errorf("got exit code %d: %s", code, p.Output.String())
	}
}

func autoscaled(namespace string) *v1.AppService {
	app := harness.Seed(namespace, "scaled")
	app.Spec.Autoscaling, app.Spec.Resources = &v1.Autoscaling{MaxReplicas: 5}, cpuRequest()
	return app
}

// scale changes the number of replicas of an application's Deployment.
func scale(t *testing.T, app *v1.AppService, replicas int32) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	get(t, app, deployment)
	patch := client.RawPatch("application/merge-patch+json", fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas))
	cluster.Patch(t, deployment, patch)
}

// staysAsItsSpecSays has another client change the size of an application.
func staysAsItsSpecSays(t *testing.T, app *v1.AppService) {
	t.Helper()
	scale(t, app, 5)
	deployment := named(app, &appsv1.Deployment{})
	cluster.Becomes(t, "the size is put right", deployment, func() error { return want("replicas", *deployment.Spec.Replicas, 2) })
}

// namesTheRight waits until an application reports which right is missing, and does something before each look. The
// application is touched meanwhile: a withdrawn right is only noticed when there is something to do.
func namesTheRight(t *testing.T, app *v1.AppService, verbs string, before func()) {
	t.Helper()
	harness.Eventually(t, "the missing right is named", func() error {
		before()
		cluster.Change(t, app, func(app *v1.AppService) { app.Labels = map[string]string{"touched": fmt.Sprint(time.Now().UnixNano())} })
		condition, err := cluster.ConditionNow(t.Context(), app, v1.ConditionReady)
		if err != nil {
			return err
		}
		want := `the operator may not ` + verbs + ` horizontalpodautoscalers of API group "autoscaling", which templates/horizontalpodautoscaler.yaml renders: ` +
			`add get, list, watch, create, patch, delete for it to config/rbac/role.yaml`
		if condition.Status != metav1.ConditionFalse || condition.Reason != v1.ReasonMissingRights || condition.Message != want {
			return fmt.Errorf("Ready is %s %s: %s", condition.Status, condition.Reason, condition.Message)
		}
		return nil
	})
}

// becomesAutoscaled waits longer than the longest time between two attempts.
func becomesAutoscaled(t *testing.T, app *v1.AppService) {
	t.Helper()
	begin := time.Now()
	harness.Eventually(t, "the autoscaler is made", func() error {
		condition, err := cluster.ConditionNow(context.WithoutCancel(t.Context()), app, v1.ConditionReady)
		if err != nil {
			return err
		}
		if condition.Reason == v1.ReasonMissingRights {
			return fmt.Errorf("it is %s: %s", condition.Reason, condition.Message)
		}
		return cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), &autoscalingv2.HorizontalPodAutoscaler{})
	})
	t.Logf("healed after %s", time.Since(begin).Round(time.Second))
}
