package plugin

import (
	"fmt"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
)

// fieldManager is the field manager of all writes, and the user agent of all requests.
const fieldManager = "kubectl-appservice"

// unreachableAfter is how long a cluster may take to take a connection.
const unreachableAfter = 5 * time.Second

// config returns the client configuration from the flags and the kubeconfig, without a client-side rate limit.
func (s *cli) config() (*rest.Config, error) {
	config, err := s.kube.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("cannot find a cluster: set KUBECONFIG or --kubeconfig: %w", err)
	}
	config.UserAgent = fieldManager
	config.QPS, config.Burst = -1, -1 // the API server has priority and fairness
	config.Dial = (&net.Dialer{Timeout: unreachableAfter}).DialContext
	return config, nil
}

// client returns a new client for the cluster. Offline commands do not call it.
func (s *cli) client() (client.WithWatch, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	scheme := runtime.NewScheme()
	_ = clientgoscheme.AddToScheme(scheme) // neither can fail on a new scheme
	_ = v1.AddToScheme(scheme)
	c, err := client.NewWithWatch(config, client.Options{Scheme: scheme})
	if err != nil {
		return nil, fmt.Errorf("cannot reach the cluster: %w", err)
	}
	return c, nil
}

// namespace returns the namespace of the flag, or of the current context.
func (s *cli) namespace() (string, error) {
	namespace, _, err := s.kube.ToRawKubeConfigLoader().Namespace()
	return namespace, err
}

// offlineNamespace returns the namespace of the flag, or "default". It does not read the kubeconfig.
func (s *cli) offlineNamespace() string {
	if *s.kube.Namespace != "" {
		return *s.kube.Namespace
	}
	return "default"
}
