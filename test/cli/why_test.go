//go:build cluster

package cli

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/plugin/tree"
	"github.com/example/appservice-operator/test/harness"
)

// crashing is a script for simulated pods (tools/controlplane/stages.yaml).
const crashing = `{phase: Running, conditions: [{type: Initialized, status: "True"}, {type: Ready, status: "False", lastTransitionTime: NOW}], ` +
	`containerStatuses: [{name: app, image: x, imageID: "", ready: false, started: false, restartCount: 4, ` +
	`state: {waiting: {reason: CrashLoopBackOff, message: back-off}}, ` +
	`lastState: {terminated: {exitCode: 3, reason: Error, message: "connecting to db:5432\npanic: no database", startedAt: NOW, finishedAt: NOW}}}]}`

// crash changes an AppService so that its pods crash, and waits until the status says so.
func crash(t *testing.T, app *v1.AppService) {
	t.Helper()
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.PodAnnotations = map[string]v1.Annotation{"script.kwok.x-k8s.io/status": crashing}
	})
	cluster.Condition(t, app, v1.ConditionStalled, metav1.ConditionTrue, v1.ReasonContainerCrashed)
}

// tenant grants a user a role of the cluster in a namespace, with what config/rbac adds to it.
func tenant(t *testing.T, u *user, role, ours string) string {
	t.Helper()
	name := role + "-of-" + u.namespace
	u.must(t, 0, "kubectl apply -f config/rbac/"+ours)
	for _, of := range []string{role, strings.ReplaceAll(strings.TrimSuffix(ours, ".yaml"), "_", "-")} {
		cluster.Create(t, &rbacv1.RoleBinding{
			ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: name + "-" + of},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: of},
			Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}},
		})
	}
	return name
}

func TestWhySaysWhatPodsDo(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := u.web(t)
	if out := u.must(t, 0, "kubectl appservice why web"); !strings.Contains(out, "Ready=True") || strings.Contains(out, "not read") {
		t.Errorf("of what is well it says:\n%s", out)
	}
	crash(t, app)
	viewer := tenant(t, u, "view", "appservice_viewer_role.yaml")
	for who, as := range map[string]string{"an administrator": "", "somebody with view": " --as=" + viewer} {
		out := u.must(t, 1, "kubectl appservice why web"+as)
		if n := strings.Count(out, "\n"); n > 40 {
			t.Errorf("%s: it is %d lines long", who, n)
		}
		place := 0
		for _, words := range []string{"AppService web", "Ready=False", "Deployment web", "ContainerCrashed: ", "Pod web-", "last words: panic: no database", "hint: "} {
			at := strings.Index(out[place:], words)
			require.GreaterOrEqual(t, at, 0, "%s: it lacks %q, or it is not where it belongs:\n%s", who, words, out)
			place += at
		}
		assert.NotContains(t, out, "not read", "%s: something could not be read:\n%s", who, out)
		t.Log("\n" + out)
	}
}

// A user who may read AppServices and nothing else gets what the operator reports, and which rights are missing.
func TestWhyNamesTheRightThatIsMissing(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	crash(t, u.web(t))
	role := &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "apps"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{v1.GroupVersion.Group}, Resources: []string{"appservices"}, Verbs: []string{"get", "list"}}},
	}
	cluster.Create(t, role)
	cluster.Create(t, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "apps"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "apps"},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "reader"}},
	})
	out := u.says(t, "kubectl appservice why web --as=reader", "ContainerCrashed", "panic: no database", "hint: ", "not read: ", "deployments.apps in namespace "+u.namespace)
	assert.NotContains(t, out, "Pod web-", "it has seen pods:\n%s", out)
	t.Log("\n" + out)
	if got := u.run(t, "kubectl appservice why web --as=nobody", nil); got.code != 2 || !strings.Contains(got.stderr, "forbidden") {
		t.Errorf("got %d: %s", got.code, got.stderr)
	}
}

func TestWhySaysWhatIsHeldBackAndWhereValuesComeFrom(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Create(t, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: u.namespace, Name: "appservice-defaults"},
		Data:       map[string]string{"appservice.yaml": "nodeSelector: {disk: fast}\n"},
	})
	cluster.Manager(t, u.namespace)
	u.applyFile(t, "testdata/app.yaml")
	app := harness.Seed(u.namespace, "web")
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, "")
	out := u.says(t, "kubectl appservice why web", "Unschedulable: ", `spec.nodeSelector  {"disk":"fast"}  ConfigMap appservice-defaults`, `spec.resources.requests  {"cpu":"50m","memory":"64Mi"}  spec, set by`)
	t.Log("\n" + out)

	u.must(t, 0, "kubectl appservice pause web")
	u.says(t, "kubectl appservice why web", "held back", "spec.paused is set", "hint: kubectl appservice resume web")
	u.says(t, "kubectl appservice status", "Paused", "paused")
}

// All that an earlier AppService left is in the way: the message names the first three, why names each.
func TestWhyNamesAllThatIsInTheWay(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := u.web(t)
	cluster.Delete(t, app, client.PropagationPolicy(metav1.DeletePropagationOrphan))
	harness.Eventually(t, "it is gone", func() error {
		err := cluster.Client.Get(t.Context(), client.ObjectKeyFromObject(app), &v1.AppService{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("it is there: %w", err)
	})
	u.applyFile(t, "testdata/app.yaml")
	cluster.Condition(t, harness.Seed(u.namespace, "web"), v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	out := u.must(t, 1, "kubectl appservice why web")
	for _, kind := range []string{"Deployment", "Ingress", "PodDisruptionBudget", "Service"} {
		assert.Contains(t, out, fmt.Sprintf(`ResourceExists: %s "web" exists and is left by an earlier resource of this name`, kind))
	}
	assert.Contains(t, out, "kubectl annotate appservice web --namespace="+u.namespace+" app.example.com/adopt=true")
	t.Log("\n" + out)
}

func TestTreeNamesDataThatIsKept(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := harness.Seed(u.namespace, "web")
	app.Spec.OnFailure = &v1.OnFailure{Action: v1.OnFailureReturn}
	cluster.CreateReady(t, app)
	cluster.Change(t, app, func(app *v1.AppService) {
		app.Spec.PodAnnotations = map[string]v1.Annotation{"script.kwok.x-k8s.io/status": crashing}
		app.Spec.Config = &v1.Config{Generated: map[string]v1.GeneratedValue{"PASSWORD": {}}}
	})
	cluster.Condition(t, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonReturnedToRelease)
	u.says(t, "kubectl appservice tree web", "Secret web-generated", "kept for its data")
	t.Log("\n" + u.must(t, 0, "kubectl appservice tree web"))
}

func TestWhySaysThatNobodyLooked(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	u.applyFile(t, "testdata/app.yaml")
	assert.Contains(t, u.must(t, 1, "kubectl appservice why web"), "no operator has written the status yet")
	assert.Contains(t, u.must(t, 0, "kubectl appservice status"), "no operator has reconciled this resource yet")
	for line, words := range map[string]string{
		"kubectl appservice why nobody":                "there is no appservice/nobody in namespace " + u.namespace,
		"kubectl appservice why deployment/web":        "Deployment is not a kind of the operator",
		"kubectl appservice why nonsense/web":          `the cluster serves no kind "nonsense"`,
		"kubectl appservice why web -o pretty":         "--output=pretty: it can be text, json, yaml",
		"kubectl appservice why":                       "name one resource",
		"kubectl appservice status -A web":             "leave out web",
		"kubectl appservice pause web --dry-run=maybe": "--dry-run=maybe: it can be none",
	} {
		if got := u.run(t, line, nil); got.code != 2 || !strings.Contains(got.stderr, words) || got.stdout != "" {
			t.Errorf("%s ended with %d: %s", line, got.code, got.stderr)
		}
	}
}

func TestTreeGoesDownToPods(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	u.web(t)
	out := u.must(t, 0, "kubectl appservice tree web -o json")
	root := &tree.Node{}
	require.NoError(t, json.Unmarshal([]byte(out), root))
	deployment := below(root, "Deployment web")
	if deployment == nil || len(deployment.Children) != 1 || !strings.HasPrefix(deployment.Children[0].Name, "ReplicaSet web-") {
		t.Fatalf("got:\n%s", out)
	}
	set := deployment.Children[0]
	if set.Ready != "2/2" || len(set.Children) != 2 || set.Children[0].State != tree.StateReady {
		t.Errorf("got the ReplicaSet %+v", set)
	}
	for _, name := range []string{"Service web", "Ingress web", "Secret sh.helm.release.v1.web.v1"} {
		assert.NotNil(t, below(root, name), "%s is missing:\n%s", name, out)
	}
	t.Log("\n" + u.must(t, 0, "kubectl appservice tree web"))
}

// A kind without a Go type, with Jobs below a CronJob.
func TestOtherKinds(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	u.applyFile(t, root+"/config/samples/app_v1_appjob.yaml")
	out := u.says(t, "kubectl appservice status --kind appjob", "migrate", "Running")
	name := strings.Fields(strings.Split(out, "\n")[1])[0]
	u.says(t, "kubectl appservice tree appjob/"+name, "AppJob "+name, "Job "+name, "Pod "+name)
	u.must(t, 0, "kubectl appservice why appjobs/"+name)
	assert.Contains(t, u.must(t, 0, "kubectl __complete appservice why appjob/"), "appjob/"+name)
}

func below(n *tree.Node, name string) *tree.Node {
	for _, child := range n.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

func TestPauseResumeAndRestart(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	cluster.Manager(t, u.namespace)
	app := u.web(t)
	get := func() *v1.AppService {
		cluster.Refresh(t, app)
		return app
	}
	steps := []struct {
		line, want  string
		paused, set bool // afterwards
	}{
		{"kubectl appservice pause web --dry-run", "appservice/web paused (dry run)", false, false},
		{"kubectl appservice pause web --dry-run=server", "appservice/web paused (server dry run)", false, false},
		{"kubectl appservice resume web", "appservice/web is not paused", false, false},
		{"kubectl appservice pause web", "appservice/web paused", true, false},
		{"kubectl appservice pause web", "appservice/web is paused already", true, false},
		{"kubectl appservice resume appservice/web", "appservice/web resumed", false, false},
		{"kubectl appservice restart web --dry-run=server", "appservice/web restarted (server dry run)", false, false},
		{"kubectl appservice restart web", "appservice/web restarted", false, true},
	}
	for _, step := range steps {
		if out := u.must(t, 0, step.line); strings.TrimSpace(out) != step.want {
			t.Errorf("%s: got %q, want %q", step.line, out, step.want)
		}
		if now := get(); now.Spec.Paused != step.paused || (now.Annotations[v1.AnnotationRestartedAt] != "") != step.set {
			t.Fatalf("after %s: paused is %t, restarted at %q", step.line, now.Spec.Paused, now.Annotations[v1.AnnotationRestartedAt])
		}
	}
	harness.Eventually(t, "the pods are other ones", func() error {
		pods := &corev1.PodList{}
		if err := cluster.Client.List(t.Context(), pods, client.InNamespace(u.namespace)); err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if pod.Annotations[v1.AnnotationRestartedAt] != app.Annotations[v1.AnnotationRestartedAt] {
				return fmt.Errorf("%s is of before", pod.Name)
			}
		}
		return nil
	})

	viewer, editor := tenant(t, u, "view", "appservice_viewer_role.yaml"), tenant(t, u, "edit", "appservice_editor_role.yaml")
	if got := u.run(t, "kubectl appservice pause web --as="+viewer, nil); got.code != 2 || !strings.Contains(got.stderr, `the role "edit"`) {
		t.Errorf("somebody with view ended with %d: %s", got.code, got.stderr)
	}
	u.must(t, 0, "kubectl appservice pause web --as="+editor)
}

func TestCompletion(t *testing.T) {
	u := newUser(t, cluster.Namespace(t))
	u.applyFile(t, "testdata/app.yaml")
	for line, want := range map[string]string{
		"kubectl __complete appservice why ''":                        "web",
		"kubectl __complete appservice why appservice/w":              "appservice/web",
		"kubectl __complete appservice pause web ''":                  ":4",
		"kubectl __complete appservice pau":                           "pause",
		"kubectl __complete appservice status -n " + u.namespace[:10]: u.namespace,
		"kubectl appservice __complete status --context ''":           ":4",
		"kubectl appservice __complete status --kind app":             "appservice",
		"kubectl appservice __complete status -o ''":                  "wide",
		"kubectl appservice completion zsh":                           "#compdef kubectl-appservice",
		"kubectl appservice completion fish":                          "complete -c kubectl-appservice",
		"kubectl appservice completion powershell":                    "Register-ArgumentCompleter",
		"kubectl appservice completion bash":                          "__start_kubectl-appservice",
	} {
		if out := u.must(t, 0, line); !strings.Contains(out, want) {
			t.Errorf("%s: it lacks %q:\n%s", line, want, out)
		}
	}
	if out := u.must(t, 0, "kubectl appservice __complete status --context ''"); len(strings.Split(out, "\n")) < 2 {
		t.Errorf("no context is completed:\n%s", out)
	}
	assert.NotContains(t, u.must(t, 0, "kubectl appservice __complete pause web ''"), "web", "what is there already is completed again")
}
