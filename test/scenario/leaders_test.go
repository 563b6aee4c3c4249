//go:build cluster

package scenario

import (
	"fmt"
	"maps"
	"sync"
	"syscall"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/example/appservice-operator/test/harness"
)

// leaders are the incidents of T9: real processes, one of which leads, end or freeze.
func leaders() []incident {
	moved, claimless := with(small, `image: nginx:1.28`), with(small, `size: 0`)
	return []incident{
		{"T9/leader-killed", func(s *scene) { leaderEnds(s, fleet, killed) }},
		{"T9/leader-terminated", func(s *scene) { leaderEnds(s, fleet, terminated) }},
		{"T9/leader-frozen", func(s *scene) { leaderEnds(s, fleet, frozenStill) }},
		{"T9/late-write/deployment", func(s *scene) { lateWrite(s, "patch deployments/web", small, moved, with(small, `image: nginx:1.29`)) }},
		{"T9/late-write/service", func(s *scene) {
			lateWrite(s, "patch services/web", small, with(small, `ports: [{name: http, port: 81, targetPort: 80}]`), with(small, `ports: [{name: http, port: 82, targetPort: 80}]`))
		}},
		{"T9/late-write/claim-deleted", func(s *scene) {
			lateWrite(s, "delete persistentvolumeclaims/web", with(small, letGo), claimless, with(small, letGo))
		}},
		{"T9/late-write/status", func(s *scene) {
			lateWrite(s, "patch appservices/web/status", small, moved, with(small, `image: nginx:1.29`))
		}},
	}
}

// The ways in which a leader ends, or seems to.
func killed(p *harness.Process)      { p.Kill() }
func terminated(p *harness.Process)  { p.Signal(syscall.SIGTERM) }
func frozenStill(p *harness.Process) { p.Signal(syscall.SIGSTOP) }

// program starts the operator as a program that takes part in the election of the namespace.
func (s *scene) program(kubeconfig string) *harness.Process {
	s.Helper()
	return harness.Run(s.T, kubeconfig, "--watch-namespaces="+s.namespace, "--chart-dir="+chartDir, "--leader-elect", "--leader-election-namespace="+s.namespace)
}

// leads waits until a manager other than the given one leads, and returns it.
func (s *scene) leads(not string) string {
	s.Helper()
	var holder string
	harness.Eventually(s.T, "somebody leads", func() error {
		list := &coordinationv1.LeaseList{}
		if err := cluster.Client.List(s.Context(), list, client.InNamespace(s.namespace)); err != nil {
			return err
		}
		for _, lease := range list.Items {
			if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" && *lease.Spec.HolderIdentity != not {
				holder = *lease.Spec.HolderIdentity
				return nil
			}
		}
		return fmt.Errorf("nobody does, or still %q", not)
	})
	return holder
}

// leaderEnds ends the leader while it installs a fleet, and lets the other one continue.
func leaderEnds(s *scene, size int, end func(*harness.Process)) {
	first := s.program(cluster.Kubeconfig)
	leader := s.leads("")
	second := s.program(cluster.Kubeconfig)
	s.install(size)
	s.someAreInstalled(size)
	end(first)
	s.fault()
	s.leads(leader)
	takeover := time.Since(s.since)
	s.fleetRuns("")
	s.Logf("%d AppServices: another led after %.1f s, and all were ready after %.1f s", size, takeover.Seconds(), s.recovery.Seconds())
	first.Signal(syscall.SIGCONT)
	s.still()
	s.installedOnce()
	for _, process := range []*harness.Process{first, second} {
		process.Kill()
	}
	s.disband()
}

// lateWrite freezes the leader while a write of it is on its way. Another process leads meanwhile, and the spec changes again; then the write
// arrives, and the former leader continues.
func lateWrite(s *scene, write, before, during, after string) {
	proxy := cluster.NewProxy(s.T)
	old := s.program(proxy.Kubeconfig)
	leader := s.leads("")
	s.want(before)
	s.endsAs(before)
	s.still()
	s.program(cluster.Kubeconfig)
	held, arrive := make(chan struct{}), make(chan struct{})
	release := sync.OnceFunc(func() { close(arrive) })
	defer release()
	proxy.CrashAt(&harness.Crash{
		Write: 1, Late: true,
		At: func(request harness.Request) bool {
			target := request.Target()
			target.Namespace = ""
			return request.Verb+" "+target.String() == write
		},
		Kill: func() {
			old.Signal(syscall.SIGSTOP)
			close(held)
			<-arrive
		},
	})
	s.want(during)
	select {
	case <-held:
	case <-s.Context().Done():
		s.Fatal("it never wrote that")
	}
	s.leads(leader)
	s.endsAs(during)
	s.want(after)
	s.endsAs(after)
	s.still()
	versions := s.versions()
	release()
	s.fault()
	old.Signal(syscall.SIGCONT)
	harness.Eventually(s.T, "who led before ends", func() error {
		select {
		case <-old.Ended():
			return nil
		default:
			return fmt.Errorf("it still runs")
		}
	})
	s.endsAs(after)
	s.still()
	s.endsAs(after)
	if now := s.versions(); !maps.Equal(now, versions) {
		s.Errorf("the late write reached objects that somebody else had written since: they had the versions %v and have %v", versions, now)
	}
}

// versions lists those of all objects but the AppService or AppJob, whose status may have to be repaired.
func (s *scene) versions() map[string]string {
	s.Helper()
	objects, err := seen.objects(s.Context(), s.namespace)
	if err != nil {
		s.Fatal(err)
	}
	found := map[string]string{}
	for key, object := range objects {
		if object.GetKind() != s.kind {
			found[key] = object.GetResourceVersion()
		}
	}
	return found
}
