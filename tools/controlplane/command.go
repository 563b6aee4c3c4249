package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
)

// answer is how long a healthy API server may take to report that it is ready.
const answer = 5 * time.Second

// kwokctl runs kwokctl on the cluster.
func (i *instance) kwokctl(ctx context.Context, args ...string) error {
	command := exec.CommandContext(ctx, i.programs["kwokctl"], append(args, "--name", i.name, "--config", "-")...)
	command.Stdin = strings.NewReader(configuration)
	command.Env = environment(os.Environ(),
		"KWOK_WORKDIR="+i.cache,
		// kwokctl runs kubectl, and downloads one if PATH has none.
		"PATH="+filepath.Dir(i.programs["kubectl"])+string(os.PathListSeparator)+os.Getenv("PATH"))
	_, err := processes.Output(command)
	return err
}

// kubectl runs kubectl on the cluster and returns what it prints.
func (c *Cluster) kubectl(ctx context.Context, args ...string) (string, error) {
	return processes.Output(exec.CommandContext(ctx, c.Kubectl, append([]string{"--kubeconfig", c.Kubeconfig}, args...)...))
}

// answers returns an error unless the API server reports without delay that it is ready.
func (c *Cluster) answers(ctx context.Context) error {
	_, err := c.kubectl(ctx, "get", "--raw", "/readyz", "--request-timeout", answer.String())
	return err
}

func (i *instance) answers(ctx context.Context) error { return i.cluster().answers(ctx) }

// settle creates the nodes that the cluster lacks and returns when it is ready for use.
func (i *instance) settle(ctx context.Context, count int) error {
	c := i.cluster()
	if err := poll.Until(ctx, c.answers); err != nil {
		return err
	}
	if ready, err := c.readyNodes(ctx); err != nil || ready < count {
		if err := i.kwokctl(ctx, "scale", "node", "--replicas", strconv.Itoa(count), "--param", nodes); err != nil {
			return err
		}
	}
	return poll.Until(ctx, func(ctx context.Context) error {
		if _, err := c.kubectl(ctx, "get", "serviceaccount", "default", "--namespace", "default"); err != nil {
			return err
		}
		ready, err := c.readyNodes(ctx)
		if err == nil && ready < count {
			return fmt.Errorf("%d of %d nodes are ready", ready, count)
		}
		return err
	})
}

// readyNodes returns how many nodes pods can be scheduled on.
func (c *Cluster) readyNodes(ctx context.Context) (int, error) {
	out, err := c.kubectl(ctx, "get", "nodes", "--output",
		`jsonpath={range .items[*]}{.status.conditions[?(@.type=="Ready")].status}{.spec.taints[*].key}{"\n"}{end}`)
	if err != nil {
		return 0, err
	}
	ready := 0
	for line := range strings.Lines(out) {
		// A new node has a taint, which the controller manager removes once the node is Ready.
		if strings.TrimSpace(line) == "True" {
			ready++
		}
	}
	return ready, nil
}

// environment returns the variables without those that affect how clusters are made, and with the given ones.
func environment(inherited []string, set ...string) []string {
	var kept []string
	for _, variable := range inherited {
		if !strings.HasPrefix(variable, "KWOK_") && !strings.HasPrefix(variable, "KUBECONFIG=") {
			kept = append(kept, variable)
		}
	}
	return append(kept, set...)
}
