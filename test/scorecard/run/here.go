package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/test/scorecard/result"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/processes"
	"github.com/example/appservice-operator/tools/toolchain"
)

// grace is how long the manager may take to end.
const grace = 40 * time.Second

// here runs tests on this machine.
func here(ctx context.Context, root string, tests []test, count func(result.Result)) {
	folder := try.Get(os.MkdirTemp("", "scorecard-"))
	defer func() { _ = os.RemoveAll(folder) }()
	cage := newCage(ctx, folder, filepath.Join(root, "bundle"))
	var ours []test
	for _, test := range tests {
		if test.Entrypoint[0] != builtIn {
			ours = append(ours, test)
			continue
		}
		verdict(test, cage.command(ctx, test.Entrypoint[1]), count)
	}
	besideManager(ctx, root, folder, ours, count)
}

// besideManager runs our tests against a control plane of their own and the manager of this tree.
func besideManager(ctx context.Context, root, folder string, tests []test, count func(result.Result)) {
	for name, source := range map[string]string{"manager": "./cmd/manager", "scorecard": "./test/scorecard"} {
		build := exec.CommandContext(ctx, "go", "build", "-o", filepath.Join(folder, name), source)
		build.Dir, build.Stderr, build.Env = root, os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
		if err := build.Run(); err != nil {
			try.Fail("cannot build %s: %w", source, err)
		}
	}
	cluster, stop, err := harness.Start(ctx, "appservice-scorecard")
	if stop != nil {
		defer stop()
	}
	try.Do(err)
	namespace := &corev1.Namespace{}
	namespace.GenerateName = "scorecard-"
	try.Do(cluster.Client.Create(ctx, namespace))
	defer func() { _ = cluster.Client.Delete(context.WithoutCancel(ctx), namespace) }()

	var log bytes.Buffer
	manager := exec.CommandContext(ctx, filepath.Join(folder, "manager"),
		"--health-probe-bind-address=0", "--watch-namespaces="+namespace.Name)
	manager.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig)
	manager.Stdout, manager.Stderr = &log, &log
	manager.Cancel = func() error { return manager.Process.Signal(os.Interrupt) }
	manager.WaitDelay = grace
	running := try.Get(processes.Start(manager))
	failed := false
	for _, test := range tests {
		command := exec.CommandContext(ctx, filepath.Join(folder, "scorecard"), test.Entrypoint[1])
		command.Env = append(os.Environ(), "KUBECONFIG="+cluster.Kubeconfig, "SCORECARD_NAMESPACE="+namespace.Name,
			"BUNDLE="+filepath.Join(root, "bundle"))
		verdict(test, command, func(r result.Result) { failed = failed || r.State != result.Pass; count(r) })
	}
	if err := running.Stop(grace); err != nil || failed {
		fmt.Fprintf(os.Stderr, "The manager wrote (and ended with: %v):\n%s\n", err, log.String())
	}
}

// verdict runs a test and counts what it prints. As in the log of a pod, only the result may be printed, on either stream.
func verdict(test test, command *exec.Cmd, count func(result.Result)) {
	name := test.Entrypoint[1]
	output, err := command.CombinedOutput()
	var status result.Status
	if err == nil {
		err = json.Unmarshal(output, &status)
	}
	if err == nil && len(status.Results) != 1 {
		err = fmt.Errorf("it gave %d results, want one", len(status.Results))
	}
	if err != nil {
		count(result.Of(name, "", fmt.Errorf("%w: %s", err, output)))
		return
	}
	count(status.Results[0])
}

// cage is a root folder that has only the bundle and the scorecard's program, which looks for it in /bundle.
type cage struct{ root string }

func newCage(ctx context.Context, folder, bundle string) cage {
	programs := try.Get(toolchain.Ensure(ctx, os.Stderr, builtIn))
	c := cage{filepath.Join(folder, "root")}
	try.Do(os.CopyFS(filepath.Join(c.root, "bundle"), os.DirFS(bundle)))
	program := try.Get(os.ReadFile(programs[builtIn]))
	try.Do(os.WriteFile(filepath.Join(c.root, builtIn), program, 0o755))
	return c
}

// command prepares one of the scorecard's own tests.
func (c cage) command(ctx context.Context, name string) *exec.Cmd {
	command := exec.CommandContext(ctx, "/"+builtIn, name)
	command.Dir, command.Env = "/", []string{"HOME=/"}
	command.SysProcAttr = rootedAt(c.root)
	return command
}
