package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/olm"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

// home is the namespace into which OLM installs the operator.
const home = "appservice-e2e-olm"

// subscribe starts OLM, which installs the first release, and has that serve applications.
func subscribe(ctx context.Context, s *suite) {
	s.startOLM(ctx)
	for _, name := range []string{home, apps} {
		s.makeNamespace(ctx, name, nil)
	}
	for _, object := range []client.Object{try.Get(olm.Group(home)), try.Get(olm.Subscription(home, s.old.Name))} {
		try.Do(s.client.Create(ctx, object))
	}
	s.untilInstalled(ctx, s.old)
	app := web(apps, rolled, rolledPort)
	try.Do(s.client.Create(ctx, app))
	s.makeStateful(ctx)
	s.untilReady(ctx, app)
	s.serves(ctx, rolledPort)
}

// startOLM starts OLM where there is none.
func (s *suite) startOLM(ctx context.Context) {
	present := &unstructured.UnstructuredList{}
	present.SetAPIVersion("operators.coreos.com/v1alpha1")
	present.SetKind("SubscriptionList")
	switch err := s.client.List(ctx, present); {
	case err == nil:
		try.Fail("%w: OLM is installed in this cluster, and the catalog cannot be reached from there", errSkipped)
	case !meta.IsNoMatchError(err):
		try.Do(err)
		return
	}
	started, err := olm.Start(ctx, olm.Cluster{Kubeconfig: s.cluster.kubeconfig, Kubectl: s.cluster.kubectl, Client: s.client})
	s.olm = started
	try.Do(err)
	s.withOLM, err = s.everything(ctx)
	try.Do(err)
}

// untilInstalled agrees to the installation of a version and waits until OLM calls it a success and both managers are its.
func (s *suite) untilInstalled(ctx context.Context, version olm.Version) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error { return s.olm.Approve(ctx, home, version.Name) }))
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		if err := s.olm.Succeeded(ctx, home, version.Name); err != nil {
			return err
		}
		manager := &appsv1.Deployment{}
		if err := s.client.Get(ctx, client.ObjectKey{Namespace: home, Name: managerName}, manager); err != nil {
			return err
		}
		image, state := manager.Spec.Template.Spec.Containers[0].Image, manager.Status
		if image != version.Image || state.ObservedGeneration != manager.Generation || state.Replicas != 2 || state.UpdatedReplicas != 2 || state.AvailableReplicas != 2 {
			return fmt.Errorf("of %d managers, %d run %s and %d are available, want 2, all of image %s",
				state.Replicas, state.UpdatedReplicas, image, state.AvailableReplicas, version.Image)
		}
		return nil
	}))
}

// upgrade has OLM upgrade the operator while requests come in, and the new version do some work.
func upgrade(ctx context.Context, s *suite) {
	if s.olm == nil {
		try.Fail("%w: OLM does not run", errSkipped)
	}
	s.underLoad(ctx, rolledPort, func() {
		s.withoutRestarts(ctx, func() {
			s.untilInstalled(ctx, s.present)
			for _, name := range []string{rolled, "stateful"} {
				app := named(name)
				s.change(ctx, app, func() { app.Spec.MinReadySeconds = ptr.To[int32](1) })
				s.untilReady(ctx, app)
			}
		})
	})
	runJobs(ctx, s) // of a kind that the version before did not have
}

// scorecard runs the scorecard's own tests and ours as pods, beside the operator that OLM has installed.
func scorecard(ctx context.Context, s *suite) {
	if s.olm == nil {
		try.Fail("%w: OLM does not run", errSkipped)
	}
	try.Do(s.command(ctx, "make", "scorecard", "SCORECARDFLAGS=-pods"))
}

// unsubscribe removes the operator as docs/upgrade-and-removal.md says, and last OLM itself.
func unsubscribe(ctx context.Context, s *suite) {
	if s.olm == nil {
		try.Fail("%w: OLM does not run", errSkipped)
	}
	s.withoutRestarts(ctx, func() {
		try.Do(s.command(ctx, "kubectl", "delete", "--namespace="+home,
			"subscriptions.operators.coreos.com/"+olm.Package, "clusterserviceversions/"+s.present.Name))
		s.untilGone(ctx, &appsv1.Deployment{}, client.ObjectKey{Namespace: home, Name: managerName})
		try.Do(s.request(ctx, rolledPort))
	})
	for _, args := range [][]string{
		{"make", "uninstall"},
		// Objects that OLM has made and leaves behind.
		{"kubectl", "delete", "clusterroles", "--selector=olm.managed=true,app.kubernetes.io/name=" + olm.Package},
		{"kubectl", "delete", "operators.operators.coreos.com", olm.Package + "." + home},
		{"kubectl", "delete", "operatorgroups", "all", "--namespace=" + home},
	} {
		try.Do(s.command(ctx, args...))
	}
	s.deleteNamespaces(ctx, home)
	wanted := s.withOLM.and("Namespace  "+apps, "ServiceAccount "+apps+" default", "ConfigMap "+apps+" kube-root-ca.crt",
		"PersistentVolume  "+apps, claimOf(named("stateful")))
	s.untilNothingBut(ctx, wanted)
	s.removeOLM(ctx)
}

// removeOLM makes the cluster what it was before.
func (s *suite) removeOLM(ctx context.Context) {
	try.Do(s.olm.Remove(ctx))
	s.olm = nil
	s.deleteNamespaces(ctx, apps)
	volume := &corev1.PersistentVolume{}
	volume.Name = apps
	try.Do(s.client.Delete(ctx, volume))
	s.untilNothingBut(ctx, s.before)
}

// untilGone waits until an object is gone.
func (s *suite) untilGone(ctx context.Context, object client.Object, key client.ObjectKey) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		err := s.client.Get(ctx, key, object)
		if err == nil {
			err = fmt.Errorf("%s is still there", key)
		}
		return client.IgnoreNotFound(err)
	}))
}
