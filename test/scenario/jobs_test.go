//go:build cluster

package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/pod-security-admission/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/harness"
)

// The specs of AppJobs. The pods of once and its variants end by themselves, those of long and its variants continue
// until they are deleted.
const (
	once = `
image: report:1
config: {environment: {GREETING: hello}}
`
	goesOn   = `{podAnnotations: {` + scripted + `: "{phase: Running}"}}`
	second   = `{image: "report:2"}`
	third    = `{image: "report:3"}`
	other    = `{args: [--all], config: {environment: {GREETING: good day}}}`
	changing = "new-image"
)

var (
	long         = with(once, goesOn)
	restart      = step{edit: map[string]string{jobKind: `{"metadata":{"annotations":{"` + v1.AnnotationRestartedAt + `":"2026-01-01T00:00:00Z"}}}`}}
	jobScenarios = []scenario{
		{name: "first-run", kind: jobKind, steps: []step{{spec: once}}},
		{name: changing, kind: jobKind, given: []step{stepTo(long)}, steps: []step{{spec: with(once, second)}}},
		{name: "new-args", kind: jobKind, given: []step{{spec: once}}, steps: []step{{spec: with(once, other)}}},
		{name: "there-and-back", kind: jobKind, given: []step{stepTo(long)}, steps: []step{stepTo(with(long, second)), stepTo(long)}},
		{name: "restarted", kind: jobKind, given: []step{{spec: once}}, steps: []step{restart}},
		{name: "resumed", kind: jobKind, given: []step{{spec: with(once, `suspend: true`), ready: metav1.ConditionFalse}}, steps: []step{{spec: once}}},
		{name: "removed-and-made-again", kind: jobKind, given: []step{{spec: once}}, steps: []step{{remove: []string{jobKind}}, {spec: once}}},
	}
)

// stage creates a namespace to play a scenario in, with an operator of its own if need be.
func (w scenario) stage(t *testing.T, name string, own bool) *stage {
	t.Helper()
	server := together
	if own {
		server = alone
	}
	s := newStage(t, name, server)
	if own {
		s.process = launch(t, cluster, s.namespace, &harness.View{}, func(options *operator.Options, _ *harness.Requests) {
			if w.options != nil {
				w.options(options)
			}
		})
	}
	if w.counted() {
		s.counts(name, cmp.Or(w.kind, v1.Kind))
	}
	return s
}

// jobIncidents lists the plans of AppJobs in which more fails than one request, or something else. Some are made of
// the points of a scenario.
func (p *player) jobIncidents() []incident {
	list, tasks := slices.Concat(lateJobs(), jobSurroundings()), ofKind(v1.Kind, lateTasks())
	r := p.references[changing]
	if r == nil {
		return append(ofKind(jobKind, list), tasks...)
	}
	for i, point := range r.points {
		for _, fault := range deaths {
			if point.DryRun {
				continue
			}
			name := fmt.Sprintf("%s/%d/%s", changing, i+1, fault)
			for what, change := range changesWhileDead {
				list = append(list, incident{"changed/" + name + "/" + what, func(s *scene) { s.changesWhileDead(point, fault, change) }})
			}
			for _, late := range []string{"appjobs", "jobs"} {
				list = append(list, incident{"standby/" + name + "/" + late, func(s *scene) { s.standbyIsLate(late, &harness.Fault{At: point, Kind: fault}) }})
			}
		}
	}
	return append(ofKind(jobKind, list), tasks...)
}

// ofKind are incidents in which the runs of an AppJob, or of a release task, are counted.
func ofKind(kind string, list []incident) []incident {
	for i := range list {
		play := list[i].play
		list[i].name = jobPlans + list[i].name
		list[i].play = func(s *scene) { s.counts(s.plan, kind); play(s) }
	}
	slices.SortFunc(list, func(a, b incident) int { return strings.Compare(a.name, b.name) })
	return list
}

// changesWhileDead are changes of an AppJob that is about to run second; its spec afterwards, empty if it is deleted.
var changesWhileDead = map[string]func(*scene) string{
	"third":   func(s *scene) string { s.want(with(once, third)); return with(once, third) },
	"back":    func(s *scene) string { s.want(long); return long },
	"removed": func(s *scene) string { s.drop(jobKind); return "" },
	"made-again": func(s *scene) string {
		s.drop(jobKind)
		s.want(with(once, second))
		return with(once, second)
	},
}

// changesWhileDead lets the operator die at a request of a change, and changes the AppJob once more before it starts
// again.
func (s *scene) changesWhileDead(at harness.Point, fault harness.FaultKind, change func(*scene) string) {
	s.with(long)
	s.line.Start()
	s.line.Arm(harness.Fault{At: at, Kind: fault})
	s.want(with(once, second))
	s.dies()
	spec := change(s)
	s.process.revive()
	s.fault()
	if spec == "" {
		s.gone()
		return
	}
	s.endsAs(spec)
}

// dies waits until the operator has died.
func (s *scene) dies() {
	s.Helper()
	harness.Eventually(s.T, "the operator dies", func() error {
		select {
		case <-s.process.incarnation.Died():
			return nil
		default:
			return fmt.Errorf("it has not made the request yet")
		}
	})
}

// elected has an operator take part in the election of a namespace.
func (s *scene) elected(options *operator.Options, _ *harness.Requests) {
	options.LeaderElection, options.LeaderElectionNamespace = true, s.namespace
}

// standbyIsLate lets a standby take over that sees a resource as it was before a change. The leader ends at a fault,
// or after the change.
func (s *scene) standbyIsLate(resource string, fault *harness.Fault) {
	s.process = launch(s.T, s.as, s.namespace, s.view, s.elected)
	leader := s.leads("")
	s.want(long)
	s.endsAs(long)
	view := &harness.View{}
	view.StartAt(s.version(), resource)
	first, changed := s.process, with(once, second)
	defer func() { first.Kill() }()
	s.process = launch(s.T, s.as, s.namespace, view, s.elected)
	s.line.Start()
	if fault != nil {
		s.line.Arm(*fault)
	}
	s.want(changed)
	if fault == nil {
		s.endsAs(changed)
		first.Stop(s.T)
	} else {
		harness.Eventually(s.T, "the leader dies", func() error {
			select {
			case <-first.incarnation.Died():
				return nil
			default:
				return fmt.Errorf("it has not made the request yet")
			}
		})
		first.Kill()
	}
	s.leads(leader)
	s.process.Synced(s.T)
	s.still()
	view.Thaw()
	s.fault()
	s.endsAs(changed)
}

// lateJobs are the incidents in which the operator sees AppJobs, or Jobs, as they were.
func lateJobs() []incident {
	changed := with(once, second)
	var list []incident
	for _, late := range []string{"appjobs", "jobs"} {
		list = append(list,
			incident{"standby/after-the-change/" + late, func(s *scene) { s.standbyIsLate(late, nil) }},
			incident{"restarted-late/" + late, func(s *scene) { s.restartsLate(late, long, changed) }},
			incident{"frozen/" + late + "/changed", func(s *scene) { s.frozenWhile(late, long, changed) }},
			incident{"frozen/" + late + "/there-and-back", func(s *scene) { s.frozenWhile(late, long, changed, long) }},
			incident{"frozen/" + late + "/twice", func(s *scene) { s.frozenWhile(late, long, with(long, second), with(once, third)) }},
		)
	}
	return list
}

// restartsLate starts an operator that sees a resource as it was before the last change, which has run. It runs
// nothing.
func (s *scene) restartsLate(resource, first, changed string) {
	s.with(first)
	version := s.version()
	s.want(changed)
	s.endsAs(changed)
	s.still()
	s.stop()
	before := s.versions()
	s.view.StartAt(version, resource)
	s.start()
	s.still()
	s.fault()
	s.view.Thaw()
	s.endsAs(changed)
	s.still()
	if now := s.versions(); !maps.Equal(now, before) {
		s.Errorf("objects were written: they had the versions %v and have %v", before, now)
	}
}

// frozenWhile makes changes while the operator sees nothing new of a resource.
func (s *scene) frozenWhile(resource, first string, specs ...string) {
	s.with(first)
	s.view.StartAt(s.version(), resource)
	for _, spec := range specs {
		s.want(spec)
		s.still()
	}
	s.fault()
	s.view.Thaw()
	s.endsAs(specs[len(specs)-1])
}

// jobSurroundings are the incidents in which something around an AppJob changes.
func jobSurroundings() []incident {
	return []incident{
		{"quota/records/changed", func(s *scene) { s.recordsRefused(false, with(once, third)) }},
		{"quota/records/changed-back", func(s *scene) { s.recordsRefused(false, once) }},
		{"quota/records/restarted-and-changed", func(s *scene) { s.recordsRefused(true, with(once, third)) }},
		{"quota/records/restarted-and-changed-back", func(s *scene) { s.recordsRefused(true, once) }},
		{"quota/records/changed-to-what-is-refused", nextIsRefused},
		{"two-kinds/appservice-first", appServiceFirst},
		{"two-kinds/appjob-first", appJobFirst},
		{"finished-job-deleted/while-down", func(s *scene) { s.finishedDeleted(true) }},
		{"finished-job-deleted/while-up", func(s *scene) { s.finishedDeleted(false) }},
		{"finished-job-deleted/before-it-was-seen", deletedUnseen},
		{"pod-security/complete", func(s *scene) { s.podSecurity(once) }},
		{"pod-security/running", func(s *scene) { s.podSecurity(long) }},
		{"pod-security/changed", podSecurityWhileChanging},
	}
}

// recordsRefused has a quota refuse the record of a change, and changes the AppJob once more.
func (s *scene) recordsRefused(restarted bool, spec string) {
	s.with(once)
	quota := s.quota("count/secrets")
	s.want(with(once, second))
	s.mentions("exceeded quota")
	s.ranTimes(2)
	if restarted {
		s.stop()
		s.start()
	}
	s.want(spec)
	s.ranTimes(3)
	if spec != once { // that has a record
		s.mentions("exceeded quota")
	}
	s.lift(quota)
	s.endsAs(spec)
}

// nextIsRefused has a quota refuse the record of a change, and then changes the AppJob to what cannot run.
func nextIsRefused(s *scene) {
	s.with(once)
	quota := s.quota("count/secrets")
	s.want(with(once, second))
	s.mentions("exceeded quota")
	s.ranTimes(2)
	s.want(with(once, `{image: "report:2", envFrom: [{secretRef: {name: nope}}]}`))
	s.mentions("nope")
	s.want(with(once, second))
	s.lift(quota)
	s.endsAs(with(once, second))
}

// ranTimes waits until the AppJob has run so often, and no pod of it runs any more.
func (s *scene) ranTimes(want int) {
	s.Helper()
	harness.Eventually(s.T, fmt.Sprintf("it has run %d times", want), func() error {
		if ran, pods := seen.runs(s.namespace); len(ran) != want || pods > 0 {
			return fmt.Errorf("%v have run, and %d pods run", ran, pods)
		}
		return nil
	})
}

// appService creates an AppService that has the name of the AppJob.
func (s *scene) appService() *v1.AppService {
	app := harness.Seed(s.namespace, appName)
	cluster.Create(s.T, app)
	return app
}

// appServiceFirst has an AppService take the name of an AppJob, which does not run before that is gone.
func appServiceFirst(s *scene) {
	s.start()
	app := s.appService()
	cluster.Ready(s.T, app)
	s.want(once)
	s.mentions(`AppService "web" exists`)
	s.still()
	s.ranTimes(0)
	cluster.Delete(s.T, app)
	s.fault()
	s.endsAs(once)
}

// appJobFirst has an AppJob take the name of an AppService, which is refused. The AppJob does not run again.
func appJobFirst(s *scene) {
	s.with(once)
	app := s.appService()
	cluster.Condition(s.T, app, v1.ConditionReady, metav1.ConditionFalse, v1.ReasonResourceExists)
	s.stop()
	s.start()
	s.still()
	cluster.Delete(s.T, app)
	s.fault()
	s.endsAs(once)
}

// dropJobs deletes all Jobs, as a policy does that deletes ended Jobs.
func (s *scene) dropJobs() {
	s.Helper()
	objects, err := seen.objects(s.Context(), s.namespace)
	if err != nil {
		s.Fatal(err)
	}
	for _, job := range jobsIn(objects) {
		s.drop("Job/" + job.Name)
	}
}

// finishedDeleted deletes a Job that is complete. It is not run again, now or after a change of something else.
func (s *scene) finishedDeleted(down bool) {
	s.with(once)
	s.still()
	if down {
		s.stop()
	}
	s.dropJobs()
	if down {
		s.start()
	}
	s.still()
	s.want(with(once, `retries: 1`))
	s.becomesReady()
	s.ranTimes(1)
}

// becomesReady waits until the AppJob is ready.
func (s *scene) becomesReady() {
	s.Helper()
	harness.Eventually(s.T, "it is ready", func() error {
		objects, err := seen.objects(s.Context(), s.namespace)
		if err != nil {
			return err
		}
		return s.over(step{}, objects)
	})
}

// deletedUnseen deletes a Job that ran while the operator was down, which does not know how it ended.
func deletedUnseen(s *scene) {
	s.with(long)
	s.stop()
	s.dropJobs()
	s.start()
	s.mentions("is gone")
	s.ranTimes(1)
	s.want(with(once, second))
	s.endsAs(with(once, second))
}

// podSecurity adds the Pod Security label to the namespace and takes it off. Neither runs anything.
func (s *scene) podSecurity(spec string) {
	s.with(spec)
	s.enforce(`"restricted"`)
	s.still()
	s.want(with(spec, `retries: 1`))
	s.still()
	s.enforce("null")
	s.still()
	s.want(spec)
	s.fault()
	s.endsAs(spec)
}

// podSecurityWhileChanging changes the label of the namespace while the AppJob waits for its earlier run.
func podSecurityWhileChanging(s *scene) {
	s.with(long)
	s.want(with(once, second))
	s.enforce(`"restricted"`)
	s.ranTimes(2)
	s.still()
	s.enforce("null")
	s.fault()
	s.still()
	s.becomesReady()
	s.ranTimes(2)
}

// enforce sets the Pod Security level of the namespace.
func (s *scene) enforce(level string) {
	s.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	cluster.Patch(s.T, namespace, client.RawPatch(types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"labels":{%q:%s}}}`, api.EnforceLevelLabel, level)))
}
