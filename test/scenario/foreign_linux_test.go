//go:build cluster

package scenario

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
)

const (
	foreignSecrets = 10_000
	// mayGrow is the permitted growth of memory in megabytes.
	mayGrow = 20
)

func init() { memory = foreignSecretsAreMade }

// foreignSecretsAreMade fills the namespace with foreign Secrets, next to one that AppServices refer to.
func foreignSecretsAreMade(s *scene, size int) {
	s.secret("referred-to")
	process := harness.RunAsUsersDo(s.T, cluster.Kubeconfig, "--watch-namespaces="+s.namespace)
	for i := range size {
		app := harness.Seed(s.namespace, fmt.Sprintf("app-%d", i))
		app.Spec.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "referred-to"}}}}
		cluster.Create(s.T, app)
	}
	s.fleetRuns("")
	s.still()
	before := s.resident(process)
	var makers sync.WaitGroup
	for maker := range 16 {
		makers.Go(func() {
			for i := maker; i < foreignSecrets; i += 16 {
				s.secret(fmt.Sprintf("foreign-%d", i))
			}
		})
	}
	makers.Wait()
	s.want(small) // it has seen what was created before that
	s.fleetRuns("")
	s.still()
	after := s.resident(process)
	s.Logf("%d AppServices: %d MB before %d Secrets of others, %d MB after", size, before, foreignSecrets, after)
	if after-before > mayGrow {
		s.Errorf("memory grew by %d MB, want %d at the most", after-before, mayGrow)
	}
	process.Kill()
	harness.Eventually(s.T, "the Secrets of others go", func() error { // one request may not have enough time for all of them
		return cluster.Client.DeleteAllOf(s.Context(), &corev1.Secret{}, client.InNamespace(s.namespace), client.HasLabels{foreignLabel})
	})
	s.disband()
}

// secret creates a Secret that the operator does not own.
func (s *scene) secret(name string) {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name, Labels: map[string]string{foreignLabel: "yes"}}}
	secret.StringData = map[string]string{"key": strings.Repeat("x", 1<<10)}
	if err := cluster.Client.Create(s.Context(), secret); err != nil {
		s.Error(err)
	}
}

// resident returns the resident memory of a process in megabytes.
func (s *scene) resident(process *harness.Process) int {
	s.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", process.Pid()))
	if err != nil {
		s.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		s.Fatal(err)
	}
	return pages * os.Getpagesize() >> 20
}
