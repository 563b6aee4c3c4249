// Package connect makes clients of clusters.
package connect

import (
	"errors"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// To returns a client of a cluster that has no limit, unless it is changed, and knows the types of Kubernetes, CRDs and the operator's kinds.
func To(kubeconfig string, change ...func(*rest.Config)) (*rest.Config, client.Client, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the kubeconfig of the cluster: %w", err)
	}
	config.QPS = -1
	for _, apply := range change {
		apply(config)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), apiextensionsv1.AddToScheme(scheme), v1.AddToScheme(scheme)); err != nil {
		return nil, nil, err
	}
	direct, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a client: %w", err)
	}
	return config, direct, nil
}
