package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/connect"
	"github.com/example/appservice-operator/test/scorecard/result"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/node"
	"github.com/example/appservice-operator/tools/toolchain"
)

// scorecardName is the name of all that the pods need: a namespace, an account, and a binding that grants it all rights.
const scorecardName = "appservice-scorecard"

// list is what operator-sdk prints, as far as it matters here.
type list struct {
	Items []struct {
		Status result.Status `json:"status"`
	} `json:"items"`
}

// inPods lets operator-sdk run all tests as pods.
func inPods(ctx context.Context, root, untar string, tests []test, count func(result.Result)) {
	programs := try.Get(toolchain.Ensure(ctx, os.Stderr, "operator-sdk"))
	var p *place
	if os.Getenv("KUBECONFIG") != "" {
		p = current(ctx, root)
	} else {
		options := node.Options{Name: cmp.Or(os.Getenv("NODE_NAME"), defaultNode), Progress: os.Stderr}
		defer func() { _ = node.Down(context.WithoutCancel(ctx), options) }()
		p = own(ctx, root, options)
	}
	if p.load != nil {
		p.bringImages(ctx, tests)
		untar = cmp.Or(untar, untarTag)
	}
	p.run(ctx, programs["operator-sdk"], untar, count)
}

// run lets operator-sdk run all tests.
func (p *place) run(ctx context.Context, program, untar string, count func(result.Result)) {
	defer p.prepare(ctx)()
	args := []string{
		"scorecard", "bundle", "--output=json", "--namespace=" + scorecardName, "--service-account=" + scorecardName,
		"--pod-security=restricted", "--wait-time=15m",
	}
	if untar != "" {
		args = append(args, "--untar-image="+untar)
	}
	command := exec.CommandContext(ctx, program, args...)
	command.Dir, command.Stderr, command.Env = p.root, os.Stderr, append(os.Environ(), "KUBECONFIG="+p.kubeconfig)
	output, failure := command.Output()
	var exit *exec.ExitError
	if failure != nil && !errors.As(failure, &exit) { // it also exits so when a test fails, after its output
		try.Do(failure)
	}
	var results list
	if err := json.Unmarshal(output, &results); err != nil {
		try.Fail("cannot read what operator-sdk printed: %w", errors.Join(failure, err))
	}
	for _, item := range results.Items {
		for _, verdict := range item.Status.Results {
			count(verdict)
		}
	}
}

// prepare makes the namespace, the account and the binding, and returns how to delete them.
func (p *place) prepare(ctx context.Context) (cleanUp func()) {
	_, direct := try.Get2(connect.To(p.kubeconfig))
	named := metav1.ObjectMeta{Name: scorecardName}
	within := metav1.ObjectMeta{Name: scorecardName, Namespace: scorecardName}
	objects := []client.Object{
		&corev1.Namespace{ObjectMeta: named},
		&corev1.ServiceAccount{ObjectMeta: within},
		// Our tests look for leftovers of every kind that the cluster serves.
		&rbacv1.ClusterRoleBinding{
			ObjectMeta: named,
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: scorecardName, Namespace: scorecardName}},
		},
	}
	cleanUp = func() {
		for _, object := range objects {
			_ = direct.Delete(context.WithoutCancel(ctx), object)
		}
	}
	for _, object := range objects {
		if err := direct.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
			cleanUp()
			try.Fail("cannot prepare namespace %s: %w", scorecardName, err)
		}
	}
	return cleanUp
}
