package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/try"
	"github.com/example/appservice-operator/tools/poll"
)

const (
	beside     = "beside"
	besidePort = 30011
)

// runBeside runs commands beside an application, waits for it, and reads what its pods write.
func runBeside(ctx context.Context, s *suite) {
	program := filepath.Join(s.folder, "kubectl-appservice")
	try.Do(s.command(ctx, "go", "build", "-o", program, "./cmd/kubectl-appservice"))
	app := web(apps, beside, besidePort)
	try.Do(s.client.Create(ctx, app))
	s.ends(ctx, program, 0, "2 ready", "wait", beside)
	s.ends(ctx, program, 0, "", "run", beside, "--", "/web", "wait", "1s")
	s.ends(ctx, program, 3, "ERROR: no such column", "run", beside, "--", "/web", "fail")
	if said := s.ends(ctx, program, 0, "", "run", beside, "-i", "--", "/web", "wait", "3s"); strings.Contains(said, "cannot attach") {
		try.Fail("%s", said)
	}
	s.noJobOf(ctx, beside)
	for _, flags := range [][]string{nil, {"-i"}} {
		s.isInterrupted(ctx, program, flags...)
		s.noJobOf(ctx, beside)
	}
	s.change(ctx, app, func() { app.Spec.Envs = []corev1.EnvVar{{Name: "MODE", Value: "crash"}} })
	s.ends(ctx, program, 1, "ContainerCrashed", "wait", beside)
	s.ends(ctx, program, 0, "cannot reach the database", "logs", beside, "--previous")
	try.Do(s.client.Delete(ctx, app))
}

// isInterrupted interrupts a command while its pod runs.
func (s *suite) isInterrupted(ctx context.Context, program string, flags ...string) {
	args := append([]string{"run", "--namespace=" + apps, beside}, append(flags, "--", "/web", "wait", "1h")...)
	command := exec.CommandContext(ctx, program, args...)
	command.Env = append(os.Environ(), "KUBECONFIG="+s.cluster.kubeconfig)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	input := try.Get(command.StdinPipe()) // which stays open
	defer func() { _ = input.Close() }()
	try.Do(command.Start())
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		pods := &corev1.PodList{}
		if err := s.client.List(ctx, pods, client.InNamespace(apps), client.HasLabels{batchv1.JobNameLabel}); err != nil {
			return err
		}
		for i := range pods.Items {
			pod := &pods.Items[i]
			if strings.HasPrefix(pod.Name, beside+"-run-") && pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
				return nil
			}
		}
		return errors.New("the pod of the command does not run yet")
	}))
	try.Do(command.Process.Signal(os.Interrupt))
	_ = command.Wait() // its code is looked at
	if got := command.ProcessState.ExitCode(); got != 2 || !strings.Contains(out.String(), "interrupted") {
		try.Fail("a command with %v that was interrupted ended with %d, want 2:\n%s", flags, got, out.String())
	}
}

// ends runs the plugin, which has to end with a code, and to print a text, and returns all that it prints.
func (s *suite) ends(ctx context.Context, program string, code int, text string, args ...string) string {
	command := exec.CommandContext(ctx, program, append(args[:1:1], append([]string{"--namespace=" + apps}, args[1:]...)...)...)
	command.Env = append(os.Environ(), "KUBECONFIG="+s.cluster.kubeconfig)
	var out bytes.Buffer
	command.Stdout, command.Stderr = &out, &out
	var exit *exec.ExitError
	if err := command.Run(); err != nil && !errors.As(err, &exit) {
		try.Do(err)
	}
	if got := command.ProcessState.ExitCode(); got != code || !strings.Contains(out.String(), text) {
		try.Fail("kubectl appservice %s ended with %d, want %d and %q:\n%s", strings.Join(args, " "), got, code, text, out.String())
	}
	return out.String()
}

// noJobOf waits until no Job of a command beside an application is there, and fails if a Service has had its pod.
func (s *suite) noJobOf(ctx context.Context, name string) {
	try.Do(poll.Until(ctx, func(ctx context.Context) error {
		jobs := &batchv1.JobList{}
		if err := s.client.List(ctx, jobs, client.InNamespace(apps)); err != nil {
			return err
		}
		for _, job := range jobs.Items {
			if strings.HasPrefix(job.Name, name+"-run-") {
				return fmt.Errorf("there is still Job %s", job.Name)
			}
		}
		return nil
	}))
	app := &v1.AppService{}
	app.Namespace, app.Name = apps, name
	try.Do(s.client.Get(ctx, client.ObjectKeyFromObject(app), app))
	if app.Status.Readiness != "2/2" {
		try.Fail("%s replicas of %s are ready", app.Status.Readiness, name)
	}
}
