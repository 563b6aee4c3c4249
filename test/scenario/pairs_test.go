//go:build cluster

package scenario

import (
	"context"
	stderrors "errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/operator"
	"github.com/example/appservice-operator/test/files"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/part"
	"github.com/example/appservice-operator/tools/poll"
)

var longest = flag.Duration("longest", patience, "how long a sequence may take to come to its end")

var seeds = flag.Int("seeds", 3, "play each pair this often in a part, at another request each time")

// sequence is a pair that is played: its second feature begins while a request of the first is on its way.
type sequence struct {
	*stage
	*testing.T
	name   string
	pair   [2]feature
	seed   int
	player *player

	dir     string // of the charts, if they change
	spec    string // as it was written last
	before  string // as it was before the first feature, and between
	between string
	taken   []string          // the versions of content that pods had before a Secret was rotated
	data    map[string]string // UIDs of the claims and generated Secrets when the second feature began
}

// pairPlans is what the names of sequences begin with.
const pairPlans = "pairs/"

// pairResults sums up what was played.
type pairResults struct {
	mu           sync.Mutex
	pairs, wrong map[string]bool
	sequences    int
}

var pairTally = pairResults{pairs: map[string]bool{}, wrong: map[string]bool{}}

// failed records that a sequence is wrong: while it is played, or in the verification at the end.
func (r *pairResults) failed(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.wrong[name] = true
}

// played records a sequence.
func (r *pairResults) played(pair string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pairs[pair] = true
	r.sequences++
}

func (r *pairResults) line() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return fmt.Sprintf("PAIRS pairs=%d of=%d sequences=%d wrong=%d", len(r.pairs), len(pairs()), r.sequences, len(r.wrong))
}

// TestPairs plays two features, in each order: the second begins before the first has ended. A seed decides at
// which request of the first that is, and whether the operator dies there. In the end the newest spec, or the newest
// release that was ready, runs, nothing is lost, no task has run twice, and the status says so.
func TestPairs(t *testing.T) {
	cluster.CollectsGarbage(t)
	defer seen.judge(t)
	p := newPlayer()
	fleet := shared(t, together)
	number, parts, err := part.Of()
	require.NoError(t, err)
	t.Run("pair", func(t *testing.T) {
		n := 0
		for _, pair := range pairs() {
			of := pairPlans + pair[0].name + "-" + pair[1].name
			for _, seed := range seedsOf(of, number%parts) {
				name := fmt.Sprintf("%s/%d", of, seed)
				if n++; !selected(name) || n%*every != 0 {
					continue
				}
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					(&sequence{T: t, name: name, pair: pair, seed: seed, player: p}).play()
				})
			}
		}
	})
	fleet.Stop(t)
	p.verify(t)
}

// seedsOf returns with which seeds a pair is played in a part, and with which ones a plan names it.
func seedsOf(pair string, part int) (list []int) {
	for i := range *seeds {
		list = append(list, part*(*seeds)+i)
	}
	for _, one := range strings.Split(*only, ",") {
		seed, err := strconv.Atoi(strings.TrimPrefix(one, pair+"/"))
		if err == nil && !slices.Contains(list, seed) {
			list = append(list, seed)
		}
	}
	return list
}

// cuts are what becomes of the request at which the second feature begins: it is sent afterwards, or its answer is
// lost; or the operator dies before it is sent, or after.
var cuts = []harness.FaultKind{harness.CutBefore, harness.DiesAfter, harness.CutAfter, harness.DiesBefore}

func (s *sequence) play() {
	s.player.alive <- struct{}{}
	defer func() { <-s.player.alive }()
	defer func() {
		pairTally.played(s.pair[0].name + "-" + s.pair[1].name)
		if s.Failed() {
			pairTally.failed(s.name)
			s.Log(replays(s.name))
		}
	}()
	s.begin()
	for at := 1 + s.seed*5%s.pair[0].mostRequests(); !s.overlap(at); at = 1 { // a shorter first feature is over by then: again, from its first request
		s.process.Stop(s.T)
		s.begin()
	}
	s.finish()
	s.ends()
}

// begin creates a namespace in which all is as both features need it.
func (s *sequence) begin() {
	s.stage = newStage(s.T, strings.TrimPrefix(s.name, pairPlans), alone)
	s.dir = chartDir
	s.process = launch(s.T, cluster, s.namespace, &harness.View{}, func(options *operator.Options, _ *harness.Requests) {
		options.ChartDir, options.MaxFailedRollouts = s.dir, 0
	})
	s.process.Synced(s.T)
	if involves(s.pair, "task") {
		s.counts(s.name, v1.Kind)
	}
	first := step{create: map[string]string{}, spec: merged(small, s.pair[0].given, s.pair[1].given)}
	for _, feature := range s.pair {
		maps.Copy(first.create, feature.others)
	}
	s.do(first)
	s.before, s.taken = first.spec, nil
	if s.crashes() {
		s.eventually("its pods run", func() error {
			s.recover()
			objects, err := seen.objects(s.Context(), s.namespace)
			require.NoError(s, err)
			return s.over(step{}, objects)
		})
	}
	s.settled(s.T, step{})
	if involves(s.pair, "halt") {
		unfit := s.object(v1.Kind + "/unfit")
		unfit.SetLabels(map[string]string{serverLabel: alone})
		unfit.Object["spec"] = specIn(s.T, s.namespace, small)
		require.NoError(s, cluster.Client.Create(s.Context(), unfit))
		s.isReady(unfit.GetName())
	}
}

// do runs a step, and remembers the spec.
func (s *sequence) do(step step) {
	if step.spec != "" {
		s.spec = step.spec
	}
	s.stage.do(s.T, step)
}

// overlap begins the first feature and, at a number of its requests, the second. It reports whether the first was
// not over yet, or makes no request.
func (s *sequence) overlap(at int) bool {
	gone := make(chan struct{})
	s.line.Start()
	struck := s.line.Arm(harness.Fault{Number: at, Kind: cuts[s.seed%len(cuts)], Gone: gone})
	s.start(s.pair[0], false)
	s.between = s.spec
	err := poll.UntilWithin(s.Context(), *longest, func(context.Context) error {
		select {
		case <-struck:
			return nil
		default:
		}
		return s.goesOn()
	})
	require.NoError(s, err)
	select {
	case <-struck:
	default:
		s.line.Disarm()
		if at > 1 {
			return false
		}
	}
	s.noteData()
	s.start(s.pair[1], s.pair[0].name == s.pair[1].name)
	close(gone)
	s.line.Disarm()
	return true
}

// goesOn returns what is not over yet. Pods that do not run are noticed after a while.
func (s *sequence) goesOn() error {
	switch {
	case !s.quiet():
		return stderrors.New("something still happens")
	case !s.fails() && !s.crashes():
		return nil
	}
	reason := s.reason()
	if s.crashes() {
		reason = v1.ReasonContainerCrashed
	}
	app := &v1.AppService{}
	err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: appName}, app)
	ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
	if err == nil && (ready == nil || ready.ObservedGeneration != app.Generation || ready.Reason != reason) {
		err = fmt.Errorf("Ready of generation %d is %+v, want the reason %s", app.Generation, ready, reason)
	}
	return err
}

// recover has pods run that crash.
func (s *sequence) recover() {
	pods := &corev1.PodList{}
	require.NoError(s, cluster.Client.List(s.Context(), pods, client.InNamespace(s.namespace), client.HasLabels{"pod-template-hash"}))
	for i := range pods.Items {
		pod := &pods.Items[i]
		if pod.Annotations[then] != "" {
			continue
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, then, runsAgain)
		err := cluster.Client.Patch(s.Context(), pod, client.RawPatch(types.MergePatchType, []byte(patch)))
		require.NoError(s, client.IgnoreNotFound(err))
	}
}

// start begins a feature, if the AppService is still there.
func (s *sequence) start(f feature, again bool) {
	app := s.object(v1.Kind)
	if err := cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(app), app); apierrors.IsNotFound(err) && involves(s.pair, "ttl") {
		return
	}
	if f.name == "rotation" {
		s.noteTaken()
	}
	if f.begin != nil {
		next := f.begin(again)
		if next.spec != "" {
			next.spec = merged(s.spec, next.spec)
		}
		s.do(next)
	}
	if f.evicts {
		s.evict()
	}
	if f.chart != "" {
		s.newChart(f, again)
	}
}

// evict deletes the pods of the application.
func (s *sequence) evict() {
	require.NoError(s, cluster.Client.DeleteAllOf(s.Context(), &corev1.Pod{}, client.InNamespace(s.namespace), client.HasLabels{"pod-template-hash"}))
}

// newChart starts the operator again, with one more template in its chart.
func (s *sequence) newChart(f feature, again bool) {
	dir := s.TempDir()
	require.NoError(s, os.CopyFS(dir, os.DirFS(s.dir)))
	text := strings.ReplaceAll(f.chart, "AGAIN", strconv.FormatBool(again))
	text = fmt.Sprintf("{{- /* %s */}}\n%s", s.namespace, text) // another digest for each: one that is halted is halted for its own
	files.Write(s, filepath.Join(dir, "helm-charts/appservice/templates", f.name+".yaml"), text)
	s.dir = dir
	s.process.Stop(s.T)
	s.process.restart()
	s.process.Synced(s.T)
}

// noteData remembers the present claims and generated values.
func (s *sequence) noteData() {
	s.data = map[string]string{}
	objects, err := seen.objects(s.Context(), s.namespace)
	require.NoError(s, err)
	for key, object := range objects {
		if holdsData(key) && object.GetDeletionTimestamp() == nil {
			s.data[key] = string(object.GetUID())
		}
	}
}

// noteTaken remembers which version of content the pods have.
func (s *sequence) noteTaken() {
	deployment := s.object("Deployment")
	require.NoError(s, cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(deployment), deployment))
	s.taken = append(s.taken, takenBy(deployment))
}

// takenBy returns the version of the content that the pods of a Deployment take.
func takenBy(deployment *unstructured.Unstructured) string {
	version, _, _ := unstructured.NestedString(deployment.Object, "spec", "template", "metadata", "annotations", postrender.AnnotationReferences)
	return version
}

func holdsData(key string) bool {
	return strings.HasPrefix(key, "PersistentVolumeClaim ") || key == "Secret "+ofSpec
}

// finish ends features that have no end of their own.
func (s *sequence) finish() {
	for _, feature := range s.pair {
		if feature.ends == "" && !feature.crashes {
			continue
		}
		s.eventually("all is quiet", func() error {
			s.process.revive()
			if !s.quiet() {
				return stderrors.New("something still happens")
			}
			if feature.crashes {
				return s.goesOn()
			}
			return nil
		})
		if app := s.object(v1.Kind); feature.ends != "" && cluster.Client.Get(s.Context(), client.ObjectKeyFromObject(app), app) == nil {
			s.do(step{spec: merged(s.spec, feature.ends)})
		}
	}
}

func (s *sequence) eventually(what string, check func() error) {
	s.Helper()
	if err := poll.UntilWithin(s.Context(), *longest, func(context.Context) error { return check() }); err != nil {
		s.Fatalf("%s: %v", what, err)
	}
}

// ends waits until all is as it has to be, and nothing happens any more.
func (s *sequence) ends() {
	gone := s.pair[0].gone || s.pair[1].gone
	var wanted []*freshState
	if !gone {
		wanted = s.wanted()
	}
	s.eventually("it does not come to its end", func() error {
		s.process.revive()
		if s.crashes() {
			s.recover()
		}
		if !s.quiet() {
			return stderrors.New("something still happens")
		}
		objects, err := seen.objects(s.Context(), s.namespace)
		require.NoError(s, err)
		maps.DeleteFunc(objects, func(key string, _ *unstructured.Unstructured) bool { return strings.Contains(key, "unfit") })
		if gone {
			return left(objects)
		}
		return s.off(objects, wanted)
	})
	for _, wrong := range append(s.wrong(s.T), s.churn()...) {
		s.Errorf("%s", wrong)
	}
	if text := logs.panicIn(s.namespace); text != "" {
		s.Errorf("O3: %s", text)
	}
	end, err := s.state(s.T)
	require.NoError(s, err)
	s.process.Stop(s.T)
	s.line.Start()
	if s.dir == chartDir {
		s.player.mu.Lock()
		defer s.player.mu.Unlock()
		s.player.played = append(s.player.played, &played{s.name, s.stage, end, nil})
	}
}

// patient is how often the same request may be made while two features last: an operator that undoes its own writes
// makes it several times a second.
const patient = 10

// patientOfTasks is how often the configuration of release tasks may be written: once for each version, and again after a lost answer.
const patientOfTasks = 4

// churn lists the requests that were made too often, those of statuses excepted.
func (s *sequence) churn() (list []string) {
	made := map[string]int{}
	for _, point := range s.line.Points() {
		if request := point.Verb + " " + point.Target; !point.DryRun && !strings.HasSuffix(request, "/status") {
			made[request]++
		}
	}
	for _, request := range slices.Sorted(maps.Keys(made)) {
		if made[request] > patient || made[request] > patientOfTasks && strings.HasSuffix(request, " configmaps/web-release") {
			list = append(list, fmt.Sprintf("%s was made %d times", request, made[request]))
		}
	}
	return list
}

// wanted returns the states that may run in the end: that of the newest spec or, if the newest release fails
// and its user asked for that, of a release that was ready before.
func (s *sequence) wanted() (list []*freshState) {
	specs := []string{s.spec}
	if s.returns() {
		specs = []string{s.before}
		if !s.pair[0].fails {
			specs = append(specs, merged(s.between, s.pair[0].ends))
		}
	}
	for _, spec := range specs {
		if s.crashes() {
			spec = with(spec, following(then, runsAgain))
		}
		needed := map[string]string{}
		if strings.Contains(spec, "secretRef") {
			needed = secretOfOthers
		}
		list = append(list, s.player.fresh(s.T, v1.Kind, spec, needed))
	}
	return list
}

// crashes reports whether pods do, until the test has them run.
func (s *sequence) crashes() bool { return s.pair[0].crashes || s.pair[1].crashes }

// fails reports whether the newest release does, and returns whether an earlier one runs instead.
func (s *sequence) fails() bool   { return strings.Contains(s.spec, "ImagePullBackOff") }
func (s *sequence) returns() bool { return s.fails() && involves(s.pair, "return") }

// reason returns that of Ready in the end.
func (s *sequence) reason() string {
	switch {
	case s.returns():
		return v1.ReasonReturnedToRelease
	case s.fails():
		return v1.ReasonImageNotFound
	}
	return v1.ReasonRunning
}

// off returns how the objects differ from what has to be.
func (s *sequence) off(objects map[string]*unstructured.Unstructured, wanted []*freshState) error {
	app, err := servedOf(v1.Kind, objects)
	if err != nil || app == nil {
		return fmt.Errorf("there is no AppService: %w", err)
	}
	if err := lie(objects); err != nil {
		return err
	}
	for key, object := range objects {
		if last, noted, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration"); noted && last < object.GetGeneration() {
			return fmt.Errorf("the controller of %s has not seen its last change yet", key)
		}
	}
	if scaler := objects["HorizontalPodAutoscaler "+appName]; scaler != nil && !evaluated(scaler) {
		return stderrors.New("the autoscaler has not evaluated the pods yet, and what it says belongs to the status")
	}
	ready := meta.FindStatusCondition(app.Status.Conditions, v1.ConditionReady)
	if ready == nil || ready.Reason != s.reason() {
		return fmt.Errorf("Ready is %+v, want the reason %s", ready, s.reason())
	}
	for field, key := range map[string]string{"persistence": "PersistentVolumeClaim " + appName, "generated": "Secret " + ofSpec} {
		if strings.Contains(s.spec, `"`+field+`"`) && objects[key] == nil {
			return fmt.Errorf("%s is lost, which the newest spec has", key)
		}
	}
	for key, uid := range s.data {
		if objects[key] == nil || string(objects[key].GetUID()) != uid {
			return fmt.Errorf("%s is lost, or another", key)
		}
	}
	if deployment := objects["Deployment "+appName]; deployment != nil && slices.Contains(s.taken, takenBy(deployment)) {
		return stderrors.New("the pods have the content of before the rotation")
	}
	got, err := stateOf(s.namespace, objects)
	if err != nil {
		return err
	}
	var differs []string
	for _, want := range wanted {
		if differs = s.differences(want, got); len(differs) == 0 {
			return nil
		}
	}
	return fmt.Errorf("%d fields differ:\n    %s", len(differs), listed(differs))
}

// evaluated reports whether an autoscaler has looked at the pods, which it does up to 15 s after it was made.
func evaluated(scaler *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(scaler.Object, "status", "conditions")
	return slices.ContainsFunc(conditions, func(one any) bool {
		condition, _ := one.(map[string]any)
		return condition["type"] == string(autoscalingv2.ScalingActive)
	})
}

// differences lists the fields in which the running objects differ.
func (s *sequence) differences(want *freshState, got state) (list []string) {
	for _, line := range differences(s.runs(want.state), s.runs(timeless(got)), want.mask) {
		key, _, _ := strings.Cut(line, ".")
		switch {
		case s.returns() && holdsData(key): // it stays, though the release that runs does not have it
		case s.returns() && involves(s.pair, "size", "autoscaler") && strings.Contains(line, ".spec.replicas: "): // that of the newest spec
		case involves(s.pair, "autoscaler") && strings.Contains(line, ".spec.replicas: ") && s.scaled(got): // the autoscaler decides
		case involves(s.pair, "chart") && key == "ConfigMap web-note":
		default:
			list = append(list, line)
		}
	}
	newest := strconv.FormatBool(s.pair[0].name == s.pair[1].name)
	if note := got["ConfigMap web-note.data.again"]; involves(s.pair, "chart") && note != newest && !s.returns() && !s.fails() {
		list = append(list, fmt.Sprintf("ConfigMap web-note.data.again: %q, want %q", note, newest))
	}
	return list
}

// scaled reports whether the number of replicas is one that the autoscaler leaves as it is.
func (s *sequence) scaled(now state) bool {
	least, most := now["HorizontalPodAutoscaler web.spec.minReplicas"], now["HorizontalPodAutoscaler web.spec.maxReplicas"]
	number := now["Deployment web.spec.replicas"]
	return least <= number && number <= most // digits
}

// runs returns the running objects of a state, without records and statuses.
func (s *sequence) runs(all state) state {
	out := state{}
	for path, value := range all {
		kind, _, _ := strings.Cut(path, " ")
		switch {
		case slices.Contains([]string{v1.Kind, "ReplicaSet", "Job"}, kind), strings.Contains(path, ".status"):
		case strings.HasPrefix(path, "Secret RELEASE"), strings.HasPrefix(path, "Secret sh.helm"), strings.HasPrefix(path, "Secret mail"):
		case strings.Contains(path, postrender.AnnotationReferences), strings.Contains(path, v1.AnnotationRestartedAt):
		case strings.Contains(path, then):
		case strings.Contains(path, v1.AnnotationStartedWith), strings.Contains(path, foreignLabel), strings.Contains(path, v1.AnnotationGeneratedVersion):
		default:
			out[path] = value
		}
	}
	return out
}

// isReady waits for another AppService.
func (s *sequence) isReady(name string) {
	s.eventually(name+" is ready", func() error {
		app := &v1.AppService{}
		if err := cluster.Client.Get(s.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, app); err != nil {
			return err
		}
		if !meta.IsStatusConditionTrue(app.Status.Conditions, v1.ConditionReady) {
			return fmt.Errorf("its conditions are %+v", app.Status.Conditions)
		}
		return nil
	})
}
