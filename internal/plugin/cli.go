package plugin

import (
	"errors"

	"k8s.io/cli-runtime/pkg/genericclioptions"
	"k8s.io/cli-runtime/pkg/genericiooptions"
)

// cli holds the streams and flags that all commands share.
type cli struct {
	genericiooptions.IOStreams
	// kube selects the cluster, the namespace and the user. Offline commands use its namespace only.
	kube  *genericclioptions.ConfigFlags
	color string
}

// errFound ends a command that has printed differences or findings. It is not printed.
var errFound = errors.New("there are differences or findings")

// ifFound returns errFound if there are any.
func ifFound(found bool) error {
	if found {
		return errFound
	}
	return nil
}
