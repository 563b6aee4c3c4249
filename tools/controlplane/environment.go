package controlplane

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/example/appservice-operator/tools/toolchain"
)

// FromEnvironment returns the cluster that the environment requests: with CLUSTER=current the one of the user's own
// kubeconfig, else one that Up starts. CLUSTER_NAME and NODES are used for options that are not set.
func FromEnvironment(ctx context.Context, options Options) (*Cluster, error) {
	current, err := CurrentWanted()
	if err != nil {
		return nil, err
	}
	if current {
		return Current(ctx, options)
	}
	options, err = options.FillFromEnvironment()
	if err != nil {
		return nil, err
	}
	return Up(ctx, options)
}

// CurrentWanted reports whether the environment requests the cluster of the user's own kubeconfig.
func CurrentWanted() (bool, error) {
	switch value := os.Getenv("CLUSTER"); value {
	case "":
		return false, nil
	case "current":
		return true, nil
	default:
		return false, fmt.Errorf("cannot use CLUSTER=%s: leave it unset, or set it to current", value)
	}
}

// FillFromEnvironment returns the options with CLUSTER_NAME and NODES for those that are not set.
func (o Options) FillFromEnvironment() (Options, error) {
	if o.Name == "" {
		o.Name = os.Getenv("CLUSTER_NAME")
	}
	if value := os.Getenv("NODES"); o.Nodes == 0 && value != "" {
		count, err := strconv.Atoi(value)
		if err != nil || count < 1 {
			return o, fmt.Errorf("cannot use NODES=%s: must be a number above 0", value)
		}
		o.Nodes = count
	}
	return o, nil
}

// Current returns the cluster of the current context of the user's own kubeconfig, $KUBECONFIG or ~/.kube/config. It
// starts nothing and changes nothing; only kubectl is the toolchain's.
func Current(ctx context.Context, options Options) (*Cluster, error) {
	kubeconfig, err := ownKubeconfig()
	if err != nil {
		return nil, fmt.Errorf("cannot use the current cluster: %w", err)
	}
	programs, err := toolchain.Ensure(ctx, options.Progress, "kubectl")
	if err != nil {
		return nil, fmt.Errorf("cannot use the current cluster: %w", err)
	}
	c := &Cluster{Kubeconfig: kubeconfig, Kubectl: programs["kubectl"]}
	name, err := c.kubectl(ctx, "config", "current-context")
	if err != nil {
		return nil, fmt.Errorf("cannot use the current cluster of %s: %w", kubeconfig, err)
	}
	c.Name = strings.TrimSpace(name)
	if err := c.answers(ctx); err != nil {
		return nil, fmt.Errorf("cannot use the current cluster %s: %w", c.Name, err)
	}
	return c, nil
}

// Existing returns the cluster with the given name if Up has started it before and it is complete. It starts nothing.
func Existing(ctx context.Context, options Options) (*Cluster, error) {
	options, err := options.complete()
	if err != nil {
		return nil, err
	}
	cache, err := toolchain.Cache()
	if err != nil {
		return nil, err
	}
	i := &instance{name: options.Name, cache: cache, progress: options.Progress}
	if _, err := os.Stat(i.dir()); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot find cluster %s: it is not up", i.name)
	}
	if i.programs, err = Programs(ctx, options.Progress); err != nil {
		return nil, fmt.Errorf("cannot find cluster %s: %w", i.name, err)
	}
	flaw, err := i.lifecycle(options).Flaw(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot find cluster %s: %w", i.name, err)
	}
	if flaw != "" {
		return nil, fmt.Errorf("cannot use cluster %s: %s: bring it up again", i.name, flaw)
	}
	return i.cluster(), nil
}

// ownKubeconfig returns the path of the one file with the user's settings.
func ownKubeconfig() (string, error) {
	value := os.Getenv("KUBECONFIG")
	if value == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		return filepath.Join(home, ".kube", "config"), nil
	}
	if files := filepath.SplitList(value); len(files) > 1 {
		return "", fmt.Errorf("KUBECONFIG names %d files: join them with \"kubectl config view --flatten\" into one", len(files))
	}
	return filepath.Abs(value)
}
