package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	operatorNamespace = "appservice-operator-system"
	operatorLease     = "appservice-operator"
	managerName       = "appservice-operator-controller-manager"
)

// deploy installs the operator from its image.
func deploy(ctx context.Context, s *suite) {
	s.deployWith(ctx)
	var namespace corev1.Namespace
	try.Do(s.client.Get(ctx, client.ObjectKey{Name: operatorNamespace}, &namespace))
	if level := namespace.Labels["pod-security.kubernetes.io/enforce"]; level != "restricted" {
		try.Fail("namespace %s enforces %q, want restricted", operatorNamespace, level)
	}
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		if _, err := s.leader(ctx); err != nil {
			return err
		}
		return s.guarded(ctx)
	}))
}

// guarded returns an error unless the cluster may evict one of the two managers, and not both.
func (s *suite) guarded(ctx context.Context) error {
	var budget policyv1.PodDisruptionBudget
	key := client.ObjectKey{Namespace: operatorNamespace, Name: managerName}
	if err := s.client.Get(ctx, key, &budget); err != nil {
		return err
	}
	if got := budget.Status; got.ExpectedPods != 2 || got.CurrentHealthy != 2 || got.DisruptionsAllowed != 1 {
		return fmt.Errorf("of %d managers %d are healthy and %d may be evicted, want 2, 2 and 1",
			got.ExpectedPods, got.CurrentHealthy, got.DisruptionsAllowed)
	}
	return nil
}

// holder returns the identity of the manager that works: the name of its pod, an underscore and what makes the process
// unique.
func (s *suite) holder(ctx context.Context) (string, error) {
	var lease coordinationv1.Lease
	if err := s.client.Get(ctx, client.ObjectKey{Namespace: operatorNamespace, Name: operatorLease}, &lease); err != nil {
		return "", err
	}
	if holder := ptr.Deref(lease.Spec.HolderIdentity, ""); holder != "" {
		return holder, nil
	}
	return "", errors.New("nobody leads")
}

// leader returns the pod of the manager that works.
func (s *suite) leader(ctx context.Context) (*corev1.Pod, error) {
	holder, err := s.holder(ctx)
	if err != nil {
		return nil, err
	}
	var pods corev1.PodList
	if err := s.client.List(ctx, &pods, client.InNamespace(operatorNamespace)); err != nil {
		return nil, err
	}
	for _, p := range pods.Items {
		if strings.HasPrefix(holder, p.Name+"_") {
			return &p, nil
		}
	}
	return nil, fmt.Errorf("%q leads, which is not a pod of the manager", holder)
}

// killLeader kills the manager that works, without giving it time to say so, and has its successor do some work.
func killLeader(ctx context.Context, s *suite) {
	s.withoutRestarts(ctx, func() {
		before := try.Get(s.holder(ctx))
		old := try.Get(s.leader(ctx))
		try.Do(s.cluster.kill(ctx, old))
		try.Do(poll.Until(ctx, func(ctx context.Context) error {
			now, err := s.holder(ctx)
			if err == nil && now == before {
				err = errors.New("the manager that was killed still leads")
			}
			return err
		}))
		app := named(rolled)
		s.change(ctx, app, func() { app.Spec.Size = ptr.To[int32](3) })
		s.untilReady(ctx, app)
	})
}

// restartKubelet restarts the kubelet of a node.
func restartKubelet(ctx context.Context, s *suite) {
	if s.cluster.reboot == nil {
		try.Fail("%w: RESTART_KUBELET is not set", errSkipped)
	}
	s.withoutRestarts(ctx, func() {
		try.Do(s.cluster.reboot(ctx))
		s.untilReady(ctx, named(rolled))
	})
}

// withoutRestarts returns an error if a pod that serves in the applications' namespace restarts, or goes, while do runs.
func (s *suite) withoutRestarts(ctx context.Context, do func()) {
	before := s.restarts(ctx)
	do()
	after := s.restarts(ctx)
	for pod, count := range before {
		if now, there := after[pod]; !there || now != count {
			try.Fail("pod %s: it is there: %t, restarts: %d, before: %d", pod, there, now, count)
		}
	}
}

// restarts returns how often the pods that serve in the applications' namespace have restarted.
func (s *suite) restarts(ctx context.Context) map[string]int32 {
	counts := s.restartsIn(ctx, apps)
	if len(counts) == 0 {
		try.Fail("no application runs that could restart")
	}
	return counts
}

// restartsIn returns how often the containers of each pod have restarted that is ready, in a namespace.
func (s *suite) restartsIn(ctx context.Context, namespace string) map[string]int32 {
	var pods corev1.PodList
	try.Do(s.client.List(ctx, &pods, client.InNamespace(namespace)))
	counts := map[string]int32{}
	for _, p := range pods.Items {
		for _, c := range p.Status.ContainerStatuses {
			if c.Ready && p.DeletionTimestamp == nil {
				counts[p.Name+" "+string(p.UID)] += c.RestartCount
			}
		}
	}
	return counts
}

// undeploy removes the manager. Applications continue.
func undeploy(ctx context.Context, s *suite) {
	var pods corev1.PodList
	try.Do(s.client.List(ctx, &pods, client.InNamespace(apps)))
	if len(pods.Items) == 0 {
		try.Fail("no application runs")
	}
	s.withoutRestarts(ctx, func() {
		try.Do(s.command(ctx, "make", "undeploy", "IMG="+s.present.Image))
		try.Do(s.request(ctx, seedPort))
	})
}

// uninstall removes the CRD, and with it the applications, then the namespaces. The cluster is as it was before.
func uninstall(ctx context.Context, s *suite) {
	try.Do(s.command(ctx, "make", "uninstall"))
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		var pods corev1.PodList
		if err := s.client.List(ctx, &pods, client.InNamespace(apps)); err != nil {
			return err
		}
		if len(pods.Items) > 0 {
			return fmt.Errorf("%d pods are still there", len(pods.Items))
		}
		return nil
	}))
	s.deleteNamespaces(ctx, apps, restricted)
	s.untilNothingBut(ctx, s.before)
}

func (s *suite) deleteNamespaces(ctx context.Context, names ...string) {
	for _, name := range names {
		namespace := &corev1.Namespace{}
		namespace.Name = name
		try.Do(client.IgnoreNotFound(s.client.Delete(ctx, namespace)))
	}
}

// untilNothingBut waits until there is nothing in the cluster but what is wanted.
func (s *suite) untilNothingBut(ctx context.Context, wanted objects) {
	var left error
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		now, err := s.everything(ctx)
		if err != nil && left != nil { // time is almost over: what is left says more
			return left
		}
		if err != nil {
			return err
		}
		left = now.nothingBut(wanted)
		return left
	}))
}
