//go:build cluster

package scenario

import (
	"fmt"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/controlplane"
)

// TestTheKindGoes plays what affects the whole cluster, so nothing else runs beside it.
func TestTheKindGoes(t *testing.T) {
	if current, err := controlplane.CurrentWanted(); current || err != nil {
		t.Skip("it would delete all AppServices of your cluster")
	}
	crdDeleted := incident{"T5/crd-deleted", crdDeleted}
	if !chosen(crdDeleted.name, *every) {
		t.Skip("not chosen")
	}
	p := &player{alive: make(chan struct{}, ownOperators)}
	forFresh := shared(t, together)
	p.fresh(t, v1.Kind, small, nil)
	forFresh.Stop(t)
	t.Run(crdDeleted.name, func(t *testing.T) { p.playIncident(t, crdDeleted) })
	p.verify(t)
}

// crdDeleted deletes the CRD of the running operator, and creates it again: it serves as before, without a restart.
func crdDeleted(s *scene) {
	s.with(small)
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "appservices.app.example.com"}}
	if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(crd), crd); err != nil {
		s.Fatal(err)
	}
	again := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: crd.Name, Annotations: crd.Annotations}, Spec: crd.Spec}
	if err := cluster.Client.Delete(s.Context(), crd); err != nil {
		s.Fatal(err)
	}
	harness.Eventually(s.T, "the CRD goes", func() error {
		err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(crd), crd)
		if err == nil {
			return fmt.Errorf("it is still there")
		}
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	s.gone()
	cluster.Install(s.T, again)
	if err := cluster.Rediscover(s.Context()); err != nil {
		s.Fatal(err)
	}
	s.fault()
	harness.Eventually(s.T, "AppServices can be made again", func() error { return s.set(s.T, small) })
	s.endsAs(small)
}
