package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/connect"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/node"
	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	defaultNode = "appservice-e2e"
	oldTag      = "example.com/web:1"
	newTag      = "example.com/web:2"
	// missingTag is a tag that no registry has.
	missingTag = "example.com/web:missing"
)

// cluster is the cluster under test.
type cluster struct {
	kubeconfig string
	kubectl    string
	address    string   // of a node
	env        []string // how programs that are started find the node, LOAD among it
	config     *rest.Config
	load       func(ctx context.Context, archive string) error
	// kill ends the manager in a pod without giving it time.
	kill func(ctx context.Context, pod *corev1.Pod) error
	// reboot restarts a kubelet; nil if that is not possible.
	reboot func(context.Context) error
}

// prepare brings up or finds the cluster and loads the images. The function that it returns ends what it has made.
func (s *suite) prepare(ctx context.Context) (end func(context.Context) error, err error) {
	end = func(context.Context) error { return nil }
	options := node.Options{Name: cmp.Or(os.Getenv("NODE_NAME"), defaultNode), Progress: s.out}
	own := os.Getenv("KUBECONFIG") == ""
	if own {
		end = func(ctx context.Context) error {
			if os.Getenv("KEEP") == "1" {
				s.say("node %s goes on: NODE_NAME=%s go run ./tools/cmd/node env; make node-down NODE_NAME=%s", options.Name, options.Name, options.Name)
				return nil
			}
			return node.Down(ctx, options)
		}
	}
	err = try.Catch(func() {
		if own {
			s.useOwn(ctx, options)
		} else {
			s.useCurrent(ctx)
		}
		try.Do(s.connect(ctx))
		s.loadImages(ctx)
		s.before = try.Get(s.everything(ctx))
	})
	if err != nil {
		_ = end(context.WithoutCancel(ctx)) // the first error is the one to report
	}
	return end, err
}

// useOwn starts a new node.
func (s *suite) useOwn(ctx context.Context, options node.Options) {
	try.Do(node.Down(ctx, options))
	n := try.Get(node.Up(ctx, options))
	s.cluster = &cluster{
		kubeconfig: n.Kubeconfig, kubectl: n.Kubectl,
		env:    []string{"NODE_NAME=" + n.Name, "LOAD=go run ./tools/cmd/node load"},
		load:   func(ctx context.Context, archive string) error { return n.Load(ctx, archive) },
		reboot: n.RestartKubelet,
		kill: func(ctx context.Context, pod *corev1.Pod) error {
			return n.Kill(ctx, pod.Status.ContainerStatuses[0].ContainerID)
		},
	}
}

// useCurrent uses the cluster that KUBECONFIG names.
func (s *suite) useCurrent(ctx context.Context) {
	programs := try.Get(toolchain.Ensure(ctx, s.out, "kubectl"))
	load := strings.Fields(os.Getenv("LOAD"))
	if len(load) == 0 {
		try.Fail("cannot bring images into the cluster of KUBECONFIG: set LOAD to a command that loads an archive, as in LOAD='kind load image-archive'")
	}
	s.cluster = &cluster{
		kubeconfig: os.Getenv("KUBECONFIG"), kubectl: programs["kubectl"],
		load: func(ctx context.Context, archive string) error {
			return s.command(ctx, append(slices.Clone(load), archive)...)
		},
	}
	// The nearest thing to it without rights on the node.
	s.cluster.kill = func(ctx context.Context, pod *corev1.Pod) error {
		return s.client.Delete(ctx, pod, client.GracePeriodSeconds(0))
	}
	if restart := strings.Fields(os.Getenv("RESTART_KUBELET")); len(restart) > 0 {
		s.cluster.reboot = func(ctx context.Context) error { return s.command(ctx, restart...) }
	}
}

// connect makes the client and finds the address of a node.
func (s *suite) connect(ctx context.Context) (err error) {
	s.cluster.config, s.client, err = connect.To(s.cluster.kubeconfig, func(config *rest.Config) {
		config.WarningHandler = rest.NoWarnings{}
		config.QPS, config.Burst = 100, 200
	})
	if err != nil {
		return err
	}
	if err := s.refuseOperator(ctx); err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := s.client.List(ctx, &nodes); err != nil {
		return err
	}
	for _, n := range nodes.Items {
		for _, address := range n.Status.Addresses {
			if address.Type == corev1.NodeInternalIP {
				s.cluster.address = address.Address
				return nil
			}
		}
	}
	return fmt.Errorf("no node of the cluster has an address")
}

// refuseOperator returns an error if the cluster knows AppServices: the last check deletes all of them.
func (s *suite) refuseOperator(ctx context.Context) error {
	switch err := s.client.List(ctx, &v1.AppServiceList{}); {
	case err == nil:
		return fmt.Errorf("cannot use the cluster of %s: the operator's CRD is installed there, see \"make uninstall\"", s.cluster.kubeconfig)
	case meta.IsNoMatchError(err):
		return nil
	default:
		return err
	}
}

// command runs a command in the repository, on the cluster under test. Its output is shown if it fails.
func (s *suite) command(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, args[0], args[1:]...)
	command.Dir = s.root
	command.Env = append(os.Environ(), "KUBECONFIG="+s.cluster.kubeconfig,
		"PATH="+filepath.Dir(s.cluster.kubectl)+string(os.PathListSeparator)+os.Getenv("PATH"))
	command.Env = append(command.Env, s.cluster.env...)
	if output, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(output)))
	}
	return nil
}
