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

const (
	// answer is how long a healthy API server may take to report that it is ready, on a busy machine.
	answer = 30 * time.Second
	// lines are how many a message has of the log of a program.
	lines = 10
)

// kwokctl runs kwokctl on the cluster.
func (i *instance) kwokctl(ctx context.Context, args ...string) error {
	logs, err := i.logs()
	if err != nil {
		return err
	}
	command := exec.CommandContext(ctx, i.programs["kwokctl"], append(args, "--name", i.name, "--config", "-")...)
	command.Stdin = strings.NewReader(configuration + logs)
	command.Env = environment(os.Environ(),
		"KWOK_WORKDIR="+i.cache,
		// kwokctl runs kubectl, and downloads one if PATH has none.
		"PATH="+filepath.Dir(i.programs["kubectl"])+string(os.PathListSeparator)+os.Getenv("PATH"))
	_, err = processes.Output(command)
	return err
}

// kubectl runs kubectl on the cluster and returns what it prints.
func (c *Cluster) kubectl(ctx context.Context, args ...string) (string, error) {
	return processes.Output(exec.CommandContext(ctx, c.Kubectl, append([]string{"--kubeconfig", c.Kubeconfig}, args...)...))
}

// answers returns an error unless the API server reports that it is ready.
func (c *Cluster) answers(ctx context.Context) error {
	_, err := c.kubectl(ctx, "get", "--raw", "/readyz", "--request-timeout", answer.String())
	return c.blame("kube-apiserver", err)
}

// ready returns an error unless the API server is ready, the default service account is there and so many nodes are Ready. It names the program
// that is not ready, with the end of its log.
func (c *Cluster) ready(ctx context.Context, nodes int) error {
	if err := c.answers(ctx); err != nil {
		return err
	}
	if _, err := c.kubectl(ctx, "get", "serviceaccount", "default", "--namespace", "default"); err != nil {
		return c.blame("kube-controller-manager", err)
	}
	ready, err := c.readyNodes(ctx)
	if err == nil && ready < nodes {
		err = fmt.Errorf("%d of %d nodes are ready", ready, nodes)
	}
	return c.blame("kwok-controller", err)
}

// Flaw returns an error that names a program of the cluster that is not ready, with the end of its log; nil if all are. It does not wait until they
// are, and also answers when the context has ended: for callers that waited for something else in vain.
func (c *Cluster) Flaw(ctx context.Context) error {
	return poll.Within(context.WithoutCancel(ctx), answer, func(ctx context.Context) error { return c.ready(ctx, 1) })
}

// blame adds to an error which program is responsible and, in a cluster of ours, the end of its log.
func (c *Cluster) blame(program string, err error) error {
	switch {
	case err == nil:
		return nil
	case !c.ours:
		return fmt.Errorf("%s is not ready: %w", program, err)
	default:
		return fmt.Errorf("%s is not ready: %w; %s", program, err, processes.EndOf(c.log(program), lines))
	}
}

func (c *Cluster) log(program string) string {
	return filepath.Join(filepath.Dir(c.Kubeconfig), "logs", program+".log")
}

// settle creates the nodes that the cluster lacks and returns when it is ready for use.
func (i *instance) settle(ctx context.Context, count int) error {
	c := i.cluster()
	err := poll.Until(ctx, func(ctx context.Context) error {
		if err := c.answers(ctx); err != nil {
			return err
		}
		if ready, err := c.readyNodes(ctx); err != nil || ready >= count {
			return err
		}
		return i.kwokctl(ctx, "scale", "node", "--replicas", strconv.Itoa(count), "--param", nodes)
	})
	if err != nil {
		return err
	}
	return poll.Until(ctx, func(ctx context.Context) error { return c.ready(ctx, count) })
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
