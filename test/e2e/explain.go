package main

import (
	"context"
	"os/exec"
	"strings"
)

// explain prints what helps to understand why a check has failed.
func (s *suite) explain(ctx context.Context) {
	namespace := operatorNamespace
	if s.olm != nil {
		namespace = home
	}
	for _, args := range [][]string{
		{"get", "pods", "--all-namespaces", "--output=wide"},
		{"get", "appservices.app.example.com", "--all-namespaces", "--output=wide"},
		{"get", "clusterserviceversions,installplans,subscriptions.operators.coreos.com", "--all-namespaces"},
		{"get", "events", "--all-namespaces", "--sort-by=.lastTimestamp", "--field-selector=type=Warning"},
		{"logs", "--namespace=" + namespace, "--selector=control-plane=controller-manager", "--tail=10", "--prefix"},
	} {
		command := exec.CommandContext(ctx, s.cluster.kubectl, append(args, "--kubeconfig", s.cluster.kubeconfig)...)
		output, err := command.CombinedOutput()
		s.say("$ kubectl %s (error: %v)\n%s", strings.Join(args, " "), err, lastLines(string(output), 25))
	}
}

func lastLines(text string, most int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-most):], "\n")
}
