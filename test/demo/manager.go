package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
	"github.com/example/appservice-operator/tools/processes"
)

const (
	// shutdown is how long the manager may take to finish what is under way when it has to end.
	shutdown = 45 * time.Second
	// answer is how long it may take to say whether it is ready.
	answer = 5 * time.Second
)

// manager is the operator as a child process.
type manager struct {
	*processes.Child
	metrics string      // URL
	told    atomic.Bool // to end
}

func (d *demo) logFile() string { return filepath.Join(d.folder, "manager.log") }

// startManager starts the manager with the embedded chart, once it is built, and returns when it is ready.
func (d *demo) startManager(ctx context.Context) {
	select {
	case <-d.built:
	case <-ctx.Done():
		try.Do(context.Cause(ctx))
	}
	try.Do(os.RemoveAll(d.logFile()))
	d.startManagerWith(ctx)
}

// startManagerWith does so with more arguments.
func (d *demo) startManagerWith(ctx context.Context, more ...string) {
	free := try.Get(processes.FreeAddresses(2))
	probes, metrics := free[0], free[1]
	namespaces := ""
	if d.shared {
		namespaces = namespace // what else lives in the cluster is none of the demo's business
	}
	d.say("Nobody shares this cluster, so the operator's policy is the built-in one called open: it refuses nothing that you could apply yourself.")
	args := append([]string{"--policy=" + filepath.Join(d.root, "config/samples/open/policy.yaml"), "--leader-elect=false", "--health-probe-bind-address=" + probes,
		"--metrics-bind-address=" + metrics, "--metrics-secure=false", "--watch-namespaces=" + namespaces}, more...)
	log := try.Get(os.OpenFile(d.logFile(), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644))
	defer log.Close()
	command := exec.Command(d.binary(), args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+d.cluster.Kubeconfig)
	command.Stdout, command.Stderr = log, log
	command.ExtraFiles = []*os.File{d.pidFile}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it outlives the terminal, if it is kept
	d.say("$ KUBECONFIG=%s \\\n  %s", quote(d.cluster.Kubeconfig), commandLine(d.binary(), args))
	child := try.Get(processes.Start(command))
	d.manager = &manager{Child: child, metrics: "http://" + metrics + "/metrics"}
	go d.manager.wait(d.abort)
	d.later(d.manager.command(), d.manager.stop)
	pid := strconv.Itoa(child.Pid())
	try.Do(d.pidFile.Truncate(0))
	try.Get(d.pidFile.WriteAt([]byte(pid), 0))
	d.say("process %s, log %s", pid, d.logFile())
	try.Do(poll.UntilWithin(ctx, patience, func(ctx context.Context) error { return ready(ctx, "http://"+probes+"/readyz") }))
}

// restartManager ends the manager and starts it again, with more arguments.
func (d *demo) restartManager(ctx context.Context, more ...string) {
	requests := try.Get(d.manager.requests(ctx))
	d.earlier += requests
	d.takeBack(ctx, d.manager.command())
	d.manager = nil
	d.startManagerWith(ctx, more...)
}

// command ends the manager.
func (m *manager) command() string { return "kill " + strconv.Itoa(m.Pid()) }

// wait waits for the process, and aborts the demo if the process ends by itself.
func (m *manager) wait(abort context.CancelCauseFunc) {
	<-m.Ended()
	if !m.told.Load() {
		abort(fmt.Errorf("the manager ended by itself: %v", m.State()))
	}
}

// stop asks the manager to end and waits until it has.
func (m *manager) stop(context.Context) error {
	m.told.Store(true)
	return m.Stop(shutdown)
}

// ready returns an error unless the manager says that it is ready.
func ready(ctx context.Context, url string) error {
	_, err := read(ctx, url)
	return err
}

// read returns what the manager answers to a request, which must be a success.
func read(ctx context.Context, url string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answer)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", url, response.Status)
	}
	return io.ReadAll(response.Body)
}
