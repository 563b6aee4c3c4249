package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/controlplane"
)

// defaultCluster is the cluster's name unless CLUSTER_NAME is set. A cluster of this name is the demo's own.
const defaultCluster = "appservice-demo"

// undo is one thing to take away at the end.
type undo struct {
	command string // what one would type to do the same
	do      func(context.Context) error
}

// later puts a step on the list of steps to undo, which goes from the last to the first.
func (d *demo) later(command string, do func(context.Context) error) {
	d.undo = append(d.undo, undo{command: command, do: do})
}

// cleanUp undoes what is on the list, even if the context has ended.
func (d *demo) cleanUp(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	var failed []string
	for len(d.undo) > 0 {
		last := d.undo[len(d.undo)-1]
		d.undo = d.undo[:len(d.undo)-1]
		d.say("$ %s", last.command)
		if err := last.do(ctx); err != nil {
			failed = append(failed, fmt.Sprintf("%s: %v", last.command, err))
		}
	}
	if len(failed) > 0 {
		return fmt.Errorf("cannot clean up: %s", strings.Join(failed, "; "))
	}
	if d.shared {
		d.say("cluster %s stays: it was there before", d.cluster.Name)
	}
	return nil
}

// takeBack undoes the one thing on the list that the command undoes, before its turn.
func (d *demo) takeBack(ctx context.Context, command string) {
	i := slices.IndexFunc(d.undo, func(u undo) bool { return u.command == command })
	if i < 0 {
		try.Fail("cannot take back %q: nothing is undone by that", command)
	}
	taken := d.undo[i]
	d.undo = slices.Delete(d.undo, i, i+1)
	d.say("$ %s", command)
	try.Do(taken.do(ctx))
}

// leaveRunning is what KEEP=1 puts in the place of cleanUp.
func (d *demo) leaveRunning(ctx context.Context) {
	folder := d.copyCharts() // without the edit: commands that render compare with the charts that the operator serves
	d.restartManager(ctx, "--chart-dir="+d.folder)
	if !d.shared {
		d.kubectl(ctx, "apply", "--filename=test/demo/ingressclass.yaml")
	}
	d.apply(ctx, sample)
	d.untilReady(ctx)
	d.say("\nThe cluster, the manager and %s keep running. To look around and to play on:\n", app)
	d.say("  export KUBECONFIG=%s", quote(d.cluster.Kubeconfig))
	d.say("  export PATH=%s:\"$PATH\"   # for kubectl", quote(filepath.Dir(d.cluster.Kubectl)))
	d.say("  kubectl describe appservice %s %s", app, inNamespace)
	d.say("  kubectl explain appservice.spec")
	d.say("  kubectl apply --filename=config/samples/minimal.yaml %s", inNamespace)
	d.say("  go install ./cmd/kubectl-appservice   # the plugin, into \"$(go env GOPATH)/bin\"")
	if d.simulated {
		d.say("  kubectl apply --filename=test/demo/broken-image.yaml %s   # simulated pods run nothing, and fail only as their annotation says", inNamespace)
	}
	d.say("  tail -f %s", quote(d.logFile()))
	d.say("\nIts chart is %s: edit it, end the manager, and start it as above.", folder)
	d.say("\nTo end it:\n")
	for _, u := range slices.Backward(d.undo) {
		d.say("  %s", u.command)
	}
}

// bringUp brings up the cluster, or finds it.
func (d *demo) bringUp(ctx context.Context) {
	options := controlplane.Options{Name: d.name, Progress: d.out}
	if !d.current && d.name != defaultCluster {
		_, err := controlplane.Existing(ctx, options)
		d.shared = err == nil
	}
	cluster := try.Get(controlplane.FromEnvironment(ctx, options))
	d.cluster, d.shared = cluster, d.shared || d.current
	if !d.shared {
		d.later("make cluster-down CLUSTER_NAME="+d.name, func(ctx context.Context) error {
			return controlplane.Down(ctx, d.name)
		})
	}
	d.say("$ export KUBECONFIG=%s", quote(cluster.Kubeconfig))
	d.say("$ export PATH=%s:\"$PATH\"", quote(filepath.Dir(cluster.Kubectl)))
	d.kubectl(ctx, "get", "nodes")
	kubelets := try.Get(d.quietly(ctx, "get", "nodes", "--output=jsonpath={.items[*].status.nodeInfo.kubeletVersion}"))
	if d.simulated = strings.Contains(kubelets, "kwok"); d.simulated {
		d.say("The control plane is real. Its nodes are simulated (kwok): pods become Ready, but run no containers.")
		d.say("With real ones: make e2e, or make node (Linux, root).")
	}
	if d.shared {
		d.refuseOperator(ctx)
		return
	}
}

// refuseOperator returns an error if an operator is installed in the cluster, as both would serve the same AppService.
func (d *demo) refuseOperator(ctx context.Context) {
	found := d.kubectl(ctx, "get", "deployments", "--all-namespaces", "--output=name",
		"--selector=app.kubernetes.io/name=appservice-operator")
	if found != "" {
		try.Fail("cannot use cluster %s: the operator is installed there, see \"make undeploy\"", d.cluster.Name)
	}
}

// installCRD installs the CRD. One that a shared cluster has already is left as it is.
func (d *demo) installCRD(ctx context.Context) {
	if d.shared {
		found := d.kubectl(ctx, "get", "crd", crd, "--ignore-not-found", "--output=name")
		if found != "" {
			d.say("It was there before and stays as it is. If it is out of date: make install")
			return
		}
		d.laterKubectl("delete", "crd", crd, timeout)
	}
	d.kubectl(ctx, "apply", "--filename=config/crd/bases")
	// It has no conditions at first, which kubectl wait takes for an error.
	for _, condition := range []string{"jsonpath={.status.acceptedNames.kind}=AppService", "condition=Established"} {
		d.kubectl(ctx, "wait", "--for="+condition, timeout, "crd/"+crd)
	}
	if d.shared {
		return
	}
	d.say("The garbage collector looks for new kinds every 30 s. Started again, it knows of this one at once.")
	try.Do(d.cluster.Rediscover(ctx))
}

// laterKubectl puts a kubectl command on the list of steps to undo.
func (d *demo) laterKubectl(args ...string) {
	d.later(commandLine("kubectl", args), func(ctx context.Context) error {
		_, err := d.quietly(ctx, args...)
		return err
	})
}
