package release

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	helmrelease "helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	kubernetesfake "k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
)

// bench is an actor on a server, with the release records in a store that tells its writes to the server's log.
type bench struct {
	actor    *Actor
	server   *server
	observer *livestate.Observer
	secrets  *kubernetesfake.Clientset
}

func newBench(t *testing.T, objects ...*unstructured.Unstructured) *bench {
	t.Helper()
	b := &bench{server: newServer(t, objects...), observer: livestate.New(nil, nil, nil), secrets: kubernetesfake.NewClientset()}
	for _, verb := range []string{"create", "update"} {
		b.secrets.PrependReactor(verb, "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
			record := a.(clienttesting.CreateAction).GetObject().(*corev1.Secret)
			err := b.server.request(fmt.Sprintf("%s record %s %s", verb, record.Labels["version"], record.Labels["status"]))
			return err != nil, nil, err
		})
	}
	b.secrets.PrependReactor("delete", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
		err := b.server.request("delete record " + strings.TrimPrefix(a.(clienttesting.DeleteAction).GetName(), livestate.RecordPrefix+"web.v"))
		return err != nil, nil, err
	})
	b.actor = NewActor(&livestate.Writer{Client: b.server, Secrets: b.secrets.CoreV1(), Observer: b.observer}, b.server, keep)
	return b
}

// keep is how many records the actor of a bench keeps.
const keep = 3

// charted is the chart of all tasks.
var charted = &chart.Chart{
	Metadata:  &chart.Metadata{APIVersion: "v2", Name: "appservice", Version: "1.2.3+build"},
	Templates: []*chart.File{{Name: "templates/x.yaml", Data: []byte("{{ fail }}")}},
}

// records is Helm's own storage: helm must read the records.
func (b *bench) records(owner client.Object) *storage.Storage {
	return storage.Init(driver.NewSecrets(b.secrets.CoreV1().Secrets(owner.GetNamespace())))
}

// given stores a release, as an earlier process left it.
func (b *bench) given(t *testing.T, revision int, status helmrelease.Status) {
	t.Helper()
	err := b.records(owner(t)).Create(&helmrelease.Release{
		Name: "web", Namespace: "demo", Version: revision, Chart: skeleton(charted),
		Info: &helmrelease.Info{Status: status}, Labels: map[string]string{v1.LabelManaged: "true", v1.LabelDigest: "old"},
	})
	require.NoError(t, err)
	b.server.log = nil
}

// history tells the status of each release record.
func (b *bench) history(t *testing.T) string {
	t.Helper()
	list, err := b.records(owner(t)).History("web")
	if err != nil && !errors.Is(err, driver.ErrReleaseNotFound) {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b *helmrelease.Release) int { return a.Version - b.Version })
	var parts []string
	for _, r := range list {
		parts = append(parts, fmt.Sprintf("%d %s", r.Version, r.Info.Status))
	}
	return strings.Join(parts, ", ")
}

// task is what a reconcile makes of objects that must be as in version two.
func (b *bench) task(t *testing.T, state plan.State, record *livestate.Record) Task {
	t.Helper()
	objects := []*unstructured.Unstructured{owned(t, "ConfigMap", "a", "two"), owned(t, "ConfigMap", "b", "two")}
	live := there()
	for _, o := range objects {
		if found := b.server.has(t, o); found != nil {
			live[kube.KeyOf(o)] = found
		}
	}
	var records []*livestate.Record
	if record != nil {
		record.Name, records = fmt.Sprintf("%sweb.v%d", livestate.RecordPrefix, record.Revision), b.recorded(t)
	}
	return Task{
		Owner:    owner(t),
		Chart:    charted,
		Desired:  desired(t, chartutil.Values{"size": 2}, objects...),
		Snapshot: &livestate.Snapshot{Objects: live, Record: record, Records: records},
		Plan:     plan.Compare(objects, live),
		State:    state,
		First:    state == plan.Absent,
	}
}

// recorded lists the records as a snapshot does.
func (b *bench) recorded(t *testing.T) []*livestate.Record {
	t.Helper()
	list, err := b.secrets.CoreV1().Secrets("demo").List(t.Context(), metav1.ListOptions{})
	require.NoError(t, err)
	var records []*livestate.Record
	for _, secret := range list.Items {
		var record livestate.Record
		if _, err := fmt.Sscan(secret.Labels["version"], &record.Revision); err != nil {
			t.Fatal(err)
		}
		record.Name, record.UID, record.Version = secret.Name, secret.UID, secret.ResourceVersion
		record.Status, record.Digest = secret.Labels["status"], secret.Labels[v1.LabelDigest]
		records = append(records, &record)
	}
	slices.SortFunc(records, func(a, b *livestate.Record) int { return b.Revision - a.Revision })
	return records
}

// act writes what a task plans, records it, and puts the records of earlier releases in order, as two reconciles do.
func (b *bench) act(t *testing.T, task Task) error {
	t.Helper()
	var created []client.Object
	if !task.Plan.Empty() {
		made, err := b.actor.Write(t.Context(), task)
		if err != nil {
			return err
		}
		created = made
	}
	if !plan.ActionOf(task.State).Records {
		return nil
	}
	if err := b.actor.Record(t.Context(), task, created); err != nil {
		return err
	}
	return b.retire(t)
}

// retire does what is due of the records.
func (b *bench) retire(t *testing.T) error {
	t.Helper()
	return b.actor.Retire(t.Context(), owner(t), b.actor.Retirement(&livestate.Snapshot{Records: b.recorded(t)}, nil))
}

func (b *bench) check(t *testing.T, log []string, history string) {
	t.Helper()
	if !slices.Equal(b.server.log, log) {
		t.Errorf("got the writes %q, want %q", b.server.log, log)
	}
	if got := b.history(t); got != history {
		t.Errorf("got the records %q, want %q", got, history)
	}
}

func TestInstall(t *testing.T) {
	b := newBench(t)
	task := b.task(t, plan.Absent, nil)
	require.NoError(t, b.act(t, task))
	b.check(t, []string{"apply ConfigMap a", "apply ConfigMap b", "create record 1 deployed"}, "1 deployed")

	record, err := b.secrets.CoreV1().Secrets("demo").Get(t.Context(), "sh.helm.release.v1.web.v1", metav1.GetOptions{})
	require.NoError(t, err)
	for label, want := range map[string]string{
		"owner": "helm", "name": "web", "status": "deployed", "version": "1",
		v1.LabelManaged: "true", v1.LabelDigest: "digest-of-two", v1.LabelChartVersion: "1.2.3_build",
	} {
		if got := record.Labels[label]; got != want {
			t.Errorf("label %s of the record: got %q, want %q", label, got, want)
		}
	}
	if !controls(owner(t), record) {
		t.Errorf("the record is not controlled by the resource: %v", record.OwnerReferences)
	}
	stored, err := b.records(owner(t)).Get("web", 1)
	require.NoError(t, err)
	manifest := task.Desired.Manifest()
	if stored.Manifest != manifest {
		t.Errorf("got the manifest %q, want %q", stored.Manifest, manifest)
	}
	if len(stored.Chart.Templates) != 0 {
		t.Error("the record carries the templates")
	}
	snapshot, err := b.observer.Snapshot(t.Context(), owner(t), nil)
	require.NoError(t, err)
	want := &livestate.Record{Name: "sh.helm.release.v1.web.v1", Revision: 1, Status: "deployed", Digest: "digest-of-two", Chart: "1.2.3_build"}
	if snapshot.Record == nil || *snapshot.Record != *want || len(snapshot.Objects) != 2 {
		t.Errorf("the journal shows %v and %d objects, want %v and 2", snapshot.Record, len(snapshot.Objects), want)
	}
}

func TestAnInstallLeavesNothingWhereAnObjectIsInTheWay(t *testing.T) {
	theirs := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: b, namespace: demo, uid: theirs}}`)
	b := newBench(t, theirs)
	for attempt, want := range [][]string{{"apply ConfigMap a", "apply ConfigMap b", "delete ConfigMap a in the background"}, nil} {
		task := b.task(t, plan.Absent, nil)
		task.Plan, task.Again = plan.Compare(task.Desired.Objects, nil), attempt > 0
		b.server.log = nil
		var notOurs *NotOursError
		if err := b.act(t, task); !errors.As(err, &notOurs) || notOurs.Key.Name != "b" {
			t.Errorf("got %v, want a NotOursError for b", err)
		}
		b.check(t, want, "")
		if live := b.server.has(t, theirs); live.GetUID() != "theirs" || len(live.GetOwnerReferences()) > 0 {
			t.Errorf("it was touched: %v", live)
		}
		if b.server.has(t, owned(t, "ConfigMap", "a", "two")) != nil {
			t.Error("ConfigMap a is left over")
		}
	}
}

func TestAnInstallWhereTheNameOfTheReleaseIsTaken(t *testing.T) {
	record := func(controller string) *unstructured.Unstructured {
		o := object(t, `{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.web.v1, namespace: demo, labels: {owner: helm, name: web}}}`)
		if controller != "" {
			o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: types.UID(controller), Controller: new(true)}})
		}
		return o
	}
	with := func(o *unstructured.Unstructured, labels map[string]string) *unstructured.Unstructured {
		all := o.GetLabels()
		maps.Copy(all, labels)
		o.SetLabels(all)
		return o
	}
	cases := map[string]struct {
		record *unstructured.Unstructured
		as     any
		want   string
		log    []string
	}{
		"by somebody's release": {record(""), new(*NotOursError), `Helm release "web" exists and is not managed by this operator`,
			[]string{"apply ConfigMap a", "apply ConfigMap b", "create record 1 deployed", "delete ConfigMap a in the background", "delete ConfigMap b in the background"}},
		"by an earlier resource": {record("earlier"), new(*PreviousError), `waiting for Kubernetes to delete leftovers of an earlier resource of this name: Helm release "web"`,
			[]string{"apply ConfigMap a", "apply ConfigMap b", "create record 1 deployed"}},
		"by our own, which lost the label that it is found by": {
			with(record("owner"), map[string]string{"version": "1"}), new(*StaleError), "caches are behind: a release of the name is there, the caches do not show it",
			[]string{"apply ConfigMap a", "apply ConfigMap b", "create record 1 deployed", "patch Secret sh.helm.release.v1.web.v1"},
		},
		"by our own, without its revision": {
			with(record("owner"), map[string]string{v1.LabelManaged: "true"}), new(*DamagedError),
			`the record of release 1 (Secret "sh.helm.release.v1.web.v1") is damaged: label version is ""`,
			[]string{"apply ConfigMap a", "apply ConfigMap b", "create record 1 deployed"},
		},
		"by our own, with another revision": {
			with(record("owner"), map[string]string{v1.LabelManaged: "true", "version": "7"}), new(*DamagedError),
			`the record of release 1 (Secret "sh.helm.release.v1.web.v1") is damaged: label version is "7"`,
			[]string{"apply ConfigMap a", "apply ConfigMap b", "create record 1 deployed"},
		},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.record)
			b.given(t, 1, helmrelease.StatusDeployed)
			err := b.act(t, b.task(t, plan.Absent, nil))
			if err == nil || err.Error() != test.want || !errors.As(err, test.as) {
				t.Errorf("got %T %v, want %q", err, err, test.want)
			}
			b.check(t, test.log, "1 deployed")
			labeled := b.server.has(t, test.record).GetLabels()[v1.LabelManaged] == "true"
			if test.record.GetLabels()[v1.LabelManaged] == "" && labeled != slices.Contains(test.log, "patch Secret sh.helm.release.v1.web.v1") {
				t.Errorf("the record has the label: %t", labeled)
			}
		})
	}
}

// Whoever may create Secrets may take the names of records.
func TestNamesOfRecordsThatOthersTookAreLeftOut(t *testing.T) {
	taken := func(revision int, more string) *unstructured.Unstructured {
		return object(t, fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.web.v%d, namespace: demo%s}}`, revision, more))
	}
	const forged = `, labels: {owner: helm, name: web}, ownerReferences: [{apiVersion: nobody.example.org/v1, kind: Nothing, name: web, uid: owner, controller: true}]`
	for name, test := range map[string]struct {
		revision int // that follows; 1 for an install
		more     string
	}{
		"an install": {1, ""},
		"an upgrade": {2, ""},
		"an upgrade, and the owner is of another kind": {2, forged},
	} {
		t.Run(name, func(t *testing.T) {
			secret := taken(test.revision, test.more)
			b := newBench(t, secret)
			task := b.task(t, plan.Absent, nil)
			if test.revision > 1 {
				b.given(t, 1, helmrelease.StatusDeployed)
				task = b.task(t, plan.OutOfDate, &livestate.Record{Revision: 1, Status: "deployed", Digest: "old"})
			}
			var theirs corev1.Secret
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(secret.Object, &theirs))
			require.NoError(t, b.secrets.Tracker().Add(&theirs))
			_, err := b.actor.Write(t.Context(), task)
			require.NoError(t, err)
			require.NoError(t, b.actor.Record(t.Context(), task, nil))
			_, err = b.records(owner(t)).Get("web", test.revision+1)
			require.NoError(t, err, "the next revision is not recorded")
		})
	}
}

func TestNotAllNamesOfRecordsAreTried(t *testing.T) {
	var all []*unstructured.Unstructured
	for revision := range 2 * mostSkipped {
		all = append(all, object(t, fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.web.v%d, namespace: demo}}`, revision+1)))
	}
	b := newBench(t, all...)
	for _, secret := range all {
		var theirs corev1.Secret
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(secret.Object, &theirs))
		require.NoError(t, b.secrets.Tracker().Add(&theirs))
	}
	err := b.actor.Record(t.Context(), b.task(t, plan.Absent, nil), nil)
	if notOurs := (*NotOursError)(nil); !errors.As(err, &notOurs) || notOurs.Key.Name != "sh.helm.release.v1.web.v11" {
		t.Errorf("got %v, want a NotOursError for the last name that was tried", err)
	}
}

// Records that an earlier resource of the name left, as with --cascade=orphan, make room, however many they are.
func TestOrphanedRecordsMakeRoom(t *testing.T) {
	const left = 2 * mostSkipped
	for name, test := range map[string]struct{ newest int }{"of an install": {0}, "of an upgrade": {3}} {
		t.Run(name, func(t *testing.T) {
			var all []*unstructured.Unstructured
			for revision := test.newest + 1; revision <= test.newest+left; revision++ {
				all = append(all, object(t, fmt.Sprintf(`{apiVersion: v1, kind: Secret, metadata: {name: sh.helm.release.v1.web.v%d, namespace: demo, uid: r%[1]d,
					labels: {owner: helm, name: web, version: "%[1]d", app.example.com/managed: "true"}}}`, revision)))
			}
			b := newBench(t, all...)
			task := b.task(t, plan.Absent, nil)
			if test.newest > 0 {
				b.given(t, test.newest, helmrelease.StatusDeployed)
				task = b.task(t, plan.OutOfDate, &livestate.Record{Revision: test.newest, Status: "deployed", Digest: "old"})
			}
			for _, secret := range all {
				var theirs corev1.Secret
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(secret.Object, &theirs))
				require.NoError(t, b.secrets.Tracker().Add(&theirs))
			}
			require.NoError(t, b.actor.Record(t.Context(), task, nil))
			_, err := b.records(owner(t)).Get("web", test.newest+1)
			require.NoError(t, err)
		})
	}
}

func TestUpgrade(t *testing.T) {
	dry := []string{"try to apply ConfigMap b", "try to apply ConfigMap a by force"}
	write := []string{"apply ConfigMap b", "apply ConfigMap a by force", "create record 3 deployed"}
	first := []string{"update record 1 superseded"} // Helm wrote them
	second := []string{"update record 2 superseded"}
	cases := map[string]struct {
		older, newest helmrelease.Status // none where it is empty
		log           []string           // after that
		history       string
	}{
		"from a deployed release": {"", helmrelease.StatusDeployed, second, "2 superseded, 3 deployed"},
		"from a pending upgrade": {helmrelease.StatusDeployed, helmrelease.StatusPendingUpgrade, first,
			"1 superseded, 2 pending-upgrade, 3 deployed"},
		"after a crash before a record was superseded": {helmrelease.StatusDeployed, helmrelease.StatusDeployed, slices.Concat(second, first),
			"1 superseded, 2 superseded, 3 deployed"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, owned(t, "ConfigMap", "a", "one"))
			if test.older != "" {
				b.given(t, 1, test.older)
			}
			b.given(t, 2, test.newest)
			require.NoError(t, b.act(t, b.task(t, plan.OutOfDate, &livestate.Record{Revision: 2, Status: test.newest.String(), Digest: "old"})))
			b.check(t, slices.Concat(dry, write, test.log), test.history)
		})
	}
}

func TestAnUpgradeThatIsRefusedInTheDryRunLeavesEverythingAsItWas(t *testing.T) {
	for _, newest := range []helmrelease.Status{helmrelease.StatusDeployed, helmrelease.StatusPendingUpgrade} {
		t.Run(newest.String(), func(t *testing.T) {
			b := newBench(t, owned(t, "ConfigMap", "a", "one"))
			b.given(t, 1, newest)
			b.server.refuse = func(request string) error {
				if strings.HasPrefix(request, "try to apply ConfigMap a") {
					return invalid("a")
				}
				return nil
			}
			err := b.act(t, b.task(t, plan.OutOfDate, &livestate.Record{Revision: 1, Status: newest.String(), Digest: "old"}))
			if !apierrors.IsInvalid(err) {
				t.Errorf("got %v, want the refusal", err)
			}
			b.check(t, []string{"try to apply ConfigMap b", "try to apply ConfigMap a by force"}, "1 "+newest.String())
		})
	}
}

func TestAnUpgradeThatIsRefusedWhenItIsWrittenMakesNoRevision(t *testing.T) {
	b := newBench(t, owned(t, "ConfigMap", "a", "one"))
	b.given(t, 1, helmrelease.StatusDeployed)
	b.server.refuse = func(request string) error {
		if request == "apply ConfigMap a by force" {
			return invalid("a")
		}
		return nil
	}
	upgrade := func() error {
		b.server.log = nil
		return b.act(t, b.task(t, plan.OutOfDate, &livestate.Record{Revision: 1, Status: "deployed", Digest: "old"}))
	}
	for range 3 {
		if err := upgrade(); !apierrors.IsInvalid(err) {
			t.Errorf("got %v, want the refusal", err)
		}
		if got, want := b.history(t), "1 deployed"; got != want {
			t.Errorf("got the records %q, want %q", got, want)
		}
	}
	b.server.refuse = func(string) error { return nil }
	require.NoError(t, upgrade())
	b.check(t, []string{"apply ConfigMap a by force", "create record 2 deployed", "update record 1 superseded"},
		"1 superseded, 2 deployed")
}

func TestResumeMakesTheNewestRecordTheDeployedOne(t *testing.T) {
	for _, status := range []helmrelease.Status{
		helmrelease.StatusUnknown, helmrelease.StatusUninstalled, helmrelease.StatusFailed,
		helmrelease.StatusUninstalling, helmrelease.StatusPendingInstall, helmrelease.StatusPendingUpgrade, helmrelease.StatusPendingRollback,
	} {
		t.Run(status.String(), func(t *testing.T) {
			b := newBench(t)
			b.given(t, 1, helmrelease.StatusDeployed)
			b.given(t, 2, status)
			require.NoError(t, b.act(t, b.task(t, plan.Unfinished, &livestate.Record{Revision: 2, Status: status.String(), Digest: "digest-of-two"})))
			b.check(t, []string{"apply ConfigMap a", "apply ConfigMap b", "update record 2 deployed", "update record 1 superseded"},
				"1 superseded, 2 deployed")
		})
	}
}

func TestARecordThatChangedIsLookedForAgain(t *testing.T) {
	for name, answer := range map[string]error{
		"it is gone":      apierrors.NewNotFound(corev1.Resource("secrets"), "x"),
		"it is a new one": conflict(owner(t)),
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.given(t, 1, helmrelease.StatusPendingInstall)
			b.server.refuse = func(request string) error {
				if strings.HasPrefix(request, "update record") {
					return answer
				}
				return nil
			}
			err := b.act(t, b.task(t, plan.Unfinished, &livestate.Record{Revision: 1, Status: "pending-install", Digest: "digest-of-two"}))
			var stale *StaleError
			if !errors.As(err, &stale) {
				t.Errorf("got %v, want a StaleError", err)
			}
		})
	}
}

// Nobody reads what a record holds to replace it.
func TestADamagedRecordIsReplaced(t *testing.T) {
	cases := map[string]struct {
		status helmrelease.Status
		state  plan.State
		digest string
		want   string
	}{
		"of what is out of date":  {helmrelease.StatusDeployed, plan.OutOfDate, "old", "create record 3 deployed"},
		"of what is not finished": {helmrelease.StatusPendingInstall, plan.Unfinished, "digest-of-two", "update record 2 deployed"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.given(t, 2, test.status)
			secrets := b.secrets.CoreV1().Secrets("demo")
			record, err := secrets.Get(t.Context(), "sh.helm.release.v1.web.v2", metav1.GetOptions{})
			require.NoError(t, err)
			record.Data["release"] = []byte("damaged")
			if _, err := secrets.Update(t.Context(), record, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			task := b.task(t, test.state, &livestate.Record{Revision: 2, Status: test.status.String(), Digest: test.digest})
			b.server.log = nil
			require.NoError(t, b.actor.Record(t.Context(), task, nil))
			if got := strings.Join(b.server.log, ", "); got != test.want {
				t.Errorf("got the writes %q, want %q", got, test.want)
			}
		})
	}
}

// A watch may tell that an object is gone before the answer to the request that wrote it is here.
func TestAnEventThatOvertakesAWriteIsBelieved(t *testing.T) {
	b := newBench(t)
	b.server.refuse = func(request string) error {
		if request == "apply ConfigMap a" {
			gone := owned(t, "ConfigMap", "a", "two")
			gone.SetUID("later")
			gone.SetResourceVersion("1000")
			b.observer.Seen(owner(t).GetUID(), gone, true)
		}
		return nil
	}
	require.NoError(t, b.act(t, b.task(t, plan.Drifted, &livestate.Record{Revision: 1, Status: "deployed"})))
	shown := noted(t, b.observer)
	if len(shown) != 1 || shown[kube.KeyOf(owned(t, "ConfigMap", "b", "two"))] == nil {
		t.Errorf("got %v, want ConfigMap b only", shown)
	}
}

func TestRepairLeavesTheRecordAlone(t *testing.T) {
	b := newBench(t, owned(t, "ConfigMap", "a", "one"))
	b.given(t, 1, helmrelease.StatusDeployed)
	require.NoError(t, b.act(t, b.task(t, plan.Drifted, &livestate.Record{Revision: 1, Status: "deployed"})))
	b.check(t, []string{"apply ConfigMap b", "apply ConfigMap a by force"}, "1 deployed")
}

func TestDescriptionsOfReleasesComeFromAnnotations(t *testing.T) {
	b := newBench(t)
	annotate := func(task Task) Task {
		task.Owner.SetAnnotations(map[string]string{
			"helm.sdk.operatorframework.io/install-description": "first one",
			"helm.sdk.operatorframework.io/upgrade-description": "later one",
		})
		return task
	}
	require.NoError(t, b.act(t, annotate(b.task(t, plan.Absent, nil))))
	described := func(revision int, want string) {
		t.Helper()
		stored, err := b.records(owner(t)).Get("web", revision)
		require.NoError(t, err)
		if stored.Info.Description != want {
			t.Errorf("release %d: got the description %q, want %q", revision, stored.Info.Description, want)
		}
	}
	described(1, "first one")
	require.NoError(t, b.act(t, annotate(b.task(t, plan.OutOfDate, &livestate.Record{Revision: 1, Status: "deployed"}))))
	described(2, "later one")
}

func TestLabelValue(t *testing.T) {
	cases := map[string]struct{ version, want string }{
		"plain":                       {"1.2.3", "1.2.3"},
		"with a pre-release":          {"1.2.3-rc.1", "1.2.3-rc.1"},
		"with build metadata":         {"1.2.3+abc.4", "1.2.3_abc.4"},
		"of 63 characters":            {"1.0.0-" + strings.Repeat("a", 57), "1.0.0-" + strings.Repeat("a", 57)},
		"longer than a label":         {"1.0.0-" + strings.Repeat("a", 80), "1.0.0-" + strings.Repeat("a", 57)},
		"that would be cut at a dot":  {"1.0.0-" + strings.Repeat("a", 56) + ".b", "1.0.0-" + strings.Repeat("a", 56)},
		"that would be cut at a plus": {"1.0.0-" + strings.Repeat("a", 56) + "+b", "1.0.0-" + strings.Repeat("a", 56)},
		"that would be cut at dashes": {"1.0.0-" + strings.Repeat("a", 55) + "--b", "1.0.0-" + strings.Repeat("a", 55)},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := labelValue(test.version)
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if problems := validation.IsValidLabelValue(got); len(problems) > 0 {
				t.Errorf("%q is not a label value: %v", got, problems)
			}
		})
	}
}

func TestTheTemplateOfAMalformedObjectIsNamed(t *testing.T) {
	for name, state := range map[string]plan.State{"when it is written": plan.Absent, "when that is tried": plan.OutOfDate} {
		t.Run(name, func(t *testing.T) {
			b, more := newBench(t), ""
			b.server.refuse = func(request string) error {
				if !strings.HasSuffix(request, "ConfigMap b") {
					return nil
				}
				message := "failed to create typed patch object (demo/b; v1, Kind=ConfigMap): errors:\n  .spec.a: expected map, got 1\n  .spec.b: expected list, got &{hunter2\n\nhunter2}" + more
				return &apierrors.StatusError{ErrStatus: metav1.Status{Code: 500, Message: message}}
			}
			task := b.task(t, state, nil)
			task.Desired.Keys = []kube.Key{kube.KeyOf(task.Desired.Objects[0]), kube.KeyOf(task.Desired.Objects[1])}
			task.Desired.Sources = []string{"appservice/templates/a.yaml", "appservice/templates/b.yaml"}
			_, err := b.actor.Write(t.Context(), task)
			var mistake *render.ChartError
			const want = `bug in chart appservice 1.2.3+build, templates/b.yaml (not in your spec): ConfigMap "b" is not valid: .spec.a: expected map; .spec.b: expected list`
			if !errors.As(err, &mistake) || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}

			more = "\n  .spec.c: field not declared in schema"
			_, err = b.actor.Write(t.Context(), task)
			var tooOld *render.TooOldError
			require.ErrorAs(t, err, &tooOld)
			require.Equal(t, `ConfigMap "b": spec.c is not a field of this cluster's API v1`, err.Error())
		})
	}
}

func TestAnInstallNamesAllThatIsLeftOfAnEarlierResource(t *testing.T) {
	left := func(name string, finalizers ...string) *unstructured.Unstructured {
		o := object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: `+name+`, namespace: demo, uid: earlier}}`)
		o.SetFinalizers(finalizers)
		if len(finalizers) > 0 {
			o.SetDeletionTimestamp(&metav1.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
		}
		o.SetOwnerReferences([]metav1.OwnerReference{{APIVersion: "app.example.com/v1", Kind: "AppService", Name: "web", UID: "earlier", Controller: new(true)}})
		return o
	}
	const waiting = "waiting for Kubernetes to delete leftovers of an earlier resource of this name: "
	cases := map[string]struct {
		objects []*unstructured.Unstructured
		again   bool
		want    string
	}{
		"one":                  {[]*unstructured.Unstructured{left("b")}, false, waiting + `ConfigMap "b"`},
		"several":              {[]*unstructured.Unstructured{left("a"), left("b", "example.com/hold", "example.com/too")}, false, waiting + `ConfigMap "a"; ConfigMap "b" (since 2026-01-02T03:04:05Z, blocked by finalizer example.com/hold, example.com/too)`},
		"several, found again": {[]*unstructured.Unstructured{left("a"), left("b")}, true, waiting + `ConfigMap "a"; ConfigMap "b"`},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, test.objects...)
			task := b.task(t, plan.Absent, nil)
			task.Plan, task.Again = plan.Compare(task.Desired.Objects, nil), test.again
			if err := b.act(t, task); err == nil || err.Error() != test.want {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}
