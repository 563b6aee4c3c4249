//go:build cluster

package scenario

import (
	"context"
	"fmt"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/poll"
)

// foreignLabel is on objects that the tests create beside an AppService: they do not count as orphans.
const foreignLabel = "faults.example.com/foreign"

// incident is a plan with a fault other than a failing request.
type incident struct {
	name string
	play func(*scene)
}

// scene is a namespace with an operator of its own, in which an incident is played.
type scene struct {
	*stage
	*testing.T
	plan string
	as   *harness.Cluster // as the operator may use it
	view *harness.View    // what the operator sees from its next start on

	since    time.Time // the end of the fault
	recovery time.Duration

	player *player
}

// play plays an incident and notes how it ends.
func (p *player) playIncident(t *testing.T, incident incident) {
	p.alive <- struct{}{}
	defer func() { <-p.alive }()
	s := &scene{stage: newStage(t, incident.name, alone), T: t, plan: incident.name, as: cluster, view: &harness.View{}, player: p}
	completed := false
	defer func() {
		tally.played(incident.name, true, s.recovery)
		for _, wrong := range s.wrong(t) {
			tally.fail(t, incident.name, false, "%s", wrong)
		}
		if !completed || t.Failed() {
			tally.fail(t, incident.name, !completed, "it did not come to its end")
			return
		}
		end, err := s.end()
		s.stop()
		if err != nil {
			tally.fail(t, incident.name, true, "O4: %v", err)
			return
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.played = append(p.played, &played{incident.name, s.stage, end, nil})
	}()
	incident.play(s)
	completed = true
}

// start starts the operator and waits until it sees the cluster.
func (s *scene) start() {
	s.Helper()
	s.process = launch(s.T, s.as, s.namespace, s.view)
	s.process.Synced(s.T)
}

func (s *scene) stop() {
	if s.process != nil {
		s.process.Stop(s.T)
		s.process = nil
	}
}

// want creates the AppService, or changes it.
func (s *scene) want(spec string) {
	s.Helper()
	s.do(s.T, step{spec: spec})
}

// with starts the operator with a running AppService.
func (s *scene) with(spec string) {
	s.Helper()
	s.start()
	s.want(spec)
	s.endsAs(spec)
}

// endsAs waits until everything is as if the AppService had been created with this spec.
func (s *scene) endsAs(spec string) {
	s.Helper()
	fresh := s.player.fresh(s.T, s.kind, spec, nil)
	var differs []string
	err := poll.UntilWithin(s.Context(), patience, func(context.Context) error {
		objects, err := seen.objects(s.Context(), s.namespace)
		if err != nil {
			return err
		}
		for key, object := range objects {
			if object.GetLabels()[foreignLabel] != "" {
				delete(objects, key)
			}
		}
		got, err := stateOf(s.namespace, objects)
		if err != nil {
			return err
		}
		if differs = differences(fresh.state, timeless(got), fresh.mask); len(differs) > 0 {
			return fmt.Errorf("%d fields differ from a fresh one", len(differs))
		}
		return s.over(stepTo(spec), objects)
	})
	if err != nil {
		s.Fatalf("%v\n    %s", err, listed(differs))
	}
	s.recovered()
}

// fault records that the fault ends now, and recovered that its consequences have.
func (s *scene) fault() { s.since = time.Now() }

func (s *scene) recovered() {
	if !s.since.IsZero() {
		s.recovery = time.Since(s.since)
	}
}

// gone waits until nothing is left.
func (s *scene) gone() {
	s.Helper()
	harness.Eventually(s.T, "everything goes", func() error {
		objects, err := seen.objects(s.Context(), s.namespace)
		if err != nil {
			return err
		}
		return left(objects)
	})
}

// says waits until a condition of the AppService has a reason, and until the operator has nothing more to do about it.
func (s *scene) says(reason string) {
	s.Helper()
	harness.Eventually(s.T, "Ready becomes "+reason, func() error {
		app := &v1.AppService{}
		if err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: appName}, app); err != nil {
			return err
		}
		condition, err := cluster.ConditionNow(s.Context(), app, v1.ConditionReady)
		if err != nil {
			return err
		}
		if condition.Reason != reason {
			return fmt.Errorf("it is %s %s: %s", condition.Status, condition.Reason, condition.Message)
		}
		return nil
	})
}

// still waits until no request is made.
func (s *scene) still() {
	s.Helper()
	harness.Eventually(s.T, "nothing happens any more", func() error {
		if !s.quiet() {
			return fmt.Errorf("something still happens")
		}
		return nil
	})
}

// end returns the state when no request is made any more and the status is true.
func (s *scene) end() (end state, err error) {
	s.Helper()
	err = poll.UntilWithin(s.Context(), patience, func(ctx context.Context) error {
		if !s.quiet() {
			return fmt.Errorf("something still happens")
		}
		objects, err := seen.objects(ctx, s.namespace)
		if err != nil {
			return err
		}
		if err := lie(objects); err != nil {
			return err
		}
		end, err = stateOf(s.namespace, objects)
		return err
	})
	return end, err
}

// uid returns the UID of an object, empty if it does not exist.
func (s *scene) uid(what string) string {
	s.Helper()
	object := s.object(what)
	if err := client.IgnoreNotFound(cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(object), object)); err != nil {
		s.Fatal(err)
	}
	return string(object.GetUID())
}

// version returns the present resource version of the cluster.
func (s *scene) version() string {
	s.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(v1.GroupVersion.WithKind(s.kind + "List"))
	if err := cluster.Client.List(s.Context(), list, client.InNamespace(s.namespace)); err != nil {
		s.Fatal(err)
	}
	return list.GetResourceVersion()
}
