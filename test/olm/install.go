package olm

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/example/appservice-operator/tools/toolchain"
)

const (
	// Package is the name of the operator in the catalog.
	Package = "appservice-operator"
)

// Version is a version of the operator.
type Version struct {
	Name     string // as in appservice-operator.v0.2.0
	Image    string // the manager's
	Replaces string // the name of the version before it, if there is one
}

// Bundled reads which version a bundle holds.
func Bundled(bundle string) (Version, error) {
	text, err := os.ReadFile(filepath.Join(bundle, "manifests/appservice-operator.clusterserviceversion.yaml"))
	if err != nil {
		return Version{}, err
	}
	var csv struct {
		Metadata metav1.ObjectMeta
		Spec     struct{ Replaces string }
	}
	if err := yaml.Unmarshal(text, &csv); err != nil {
		return Version{}, fmt.Errorf("cannot parse the ClusterServiceVersion in %s: %w", bundle, err)
	}
	return Version{Name: csv.Metadata.Name, Image: csv.Metadata.Annotations["containerImage"], Replaces: csv.Spec.Replaces}, nil
}

// Subscription asks for a version of the operator, and for those after it, each of which waits for approval: the one of
// config/olm, in a namespace.
func Subscription(namespace, version string) (*unstructured.Unstructured, error) {
	subscription, err := published("subscription.yaml")
	if err != nil {
		return nil, err
	}
	subscription.SetNamespace(namespace)
	return subscription, unstructured.SetNestedField(subscription.Object, version, "spec", "startingCSV")
}

// Group is the OperatorGroup of config/olm, which names no namespace, in another one.
func Group(namespace string) (*unstructured.Unstructured, error) {
	group, err := published("operatorgroup.yaml")
	if err != nil {
		return nil, err
	}
	group.SetNamespace(namespace)
	return group, nil
}

// catalogSource is that of config/olm, with the address of a server in place of the image.
func catalogSource(address string) (*unstructured.Unstructured, error) {
	source, err := published("catalogsource.yaml")
	if err != nil {
		return nil, err
	}
	unstructured.RemoveNestedField(source.Object, "spec", "image")
	unstructured.RemoveNestedField(source.Object, "spec", "grpcPodConfig")
	unstructured.RemoveNestedField(source.Object, "spec", "updateStrategy")
	return source, unstructured.SetNestedField(source.Object, address, "spec", "address")
}

// published reads an object that people apply.
func published(file string) (*unstructured.Unstructured, error) {
	root, err := toolchain.Root()
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, "config/olm", file))
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(text, &object.Object); err != nil {
		return nil, fmt.Errorf("cannot parse %s: %w", file, err)
	}
	return object, nil
}

// Approve agrees to the InstallPlan that brings a version. It returns an error while there is none.
func (i *Instance) Approve(ctx context.Context, namespace, version string) error {
	plans := &unstructured.UnstructuredList{}
	plans.SetAPIVersion("operators.coreos.com/v1alpha1")
	plans.SetKind("InstallPlanList")
	if err := i.cluster.Client.List(ctx, plans, client.InNamespace(namespace)); err != nil {
		return err
	}
	for at := range plans.Items {
		plan := &plans.Items[at]
		names, _, _ := unstructured.NestedStringSlice(plan.Object, "spec", "clusterServiceVersionNames")
		phase, _, _ := unstructured.NestedString(plan.Object, "status", "phase")
		if slices.Equal(names, []string{version}) && phase == "RequiresApproval" { // earlier OLM would lose its status
			patch := client.RawPatch("application/merge-patch+json", []byte(`{"spec": {"approved": true}}`))
			return i.cluster.Client.Patch(ctx, plan, patch)
		}
	}
	return fmt.Errorf("there are %d InstallPlans, none of them for %s", len(plans.Items), version)
}

// Succeeded returns an error unless a version is installed.
func (i *Instance) Succeeded(ctx context.Context, namespace, version string) error {
	csv := Object("v1alpha1", "ClusterServiceVersion", namespace, version, `{}`)
	if err := i.cluster.Client.Get(ctx, client.ObjectKeyFromObject(csv), csv); err != nil {
		return err
	}
	status, _, _ := unstructured.NestedMap(csv.Object, "status")
	if status["phase"] != "Succeeded" {
		return fmt.Errorf("%s is %v %v: %v", version, status["phase"], status["reason"], status["message"])
	}
	return nil
}

// Object makes an object of OLM's, with a spec in JSON.
func Object(version, kind, namespace, name, spec string) *unstructured.Unstructured {
	object := &unstructured.Unstructured{Object: map[string]any{}}
	object.SetAPIVersion("operators.coreos.com/" + version)
	object.SetKind(kind)
	object.SetNamespace(namespace)
	object.SetName(name)
	var fields map[string]any
	if err := json.Unmarshal([]byte(spec), &fields); err != nil {
		panic(err) // it is written in the program
	}
	object.Object["spec"] = fields
	return object
}
