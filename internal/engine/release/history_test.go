package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/release/plan"
)

func TestWhatIsDueOfRecords(t *testing.T) {
	cases := map[string]struct {
		records string // status of each, the newest first
		keep    int
		want    string
	}{
		"none":                                {"", 5, ""},
		"the first":                           {"deployed", 5, ""},
		"one before, just succeeded":          {"deployed deployed", 5, "supersede 1"},
		"in order":                            {"deployed superseded superseded", 3, ""},
		"one too many":                        {"deployed deployed superseded superseded", 3, "supersede 1, delete 3"},
		"fewer are kept from now on":          {"deployed superseded superseded superseded", 2, "delete 2, delete 3"},
		"one is kept":                         {"deployed deployed deployed", 1, "delete 1, delete 2"},
		"Helm left one that failed":           {"deployed failed deployed", 5, "supersede 2"},
		"the newest is not deployed yet":      {"pending-upgrade deployed superseded superseded", 2, ""},
		"the newest is lost":                  {"superseded superseded superseded", 2, ""},
		"the last that was ready is kept":     {"deployed superseded superseded superseded+ superseded+", 2, "delete 2, delete 4"},
		"of the last one is kept":             {"deployed deployed+ superseded", 1, "supersede 1, delete 2"},
		"the newest was ready":                {"deployed+ superseded+", 1, "delete 1"},
		"a crash left two undone, many to go": {"deployed deployed deployed superseded", 3, "supersede 1, supersede 2, delete 3"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var records []*livestate.Record
			for i, status := range strings.Fields(test.records) {
				status, ready := strings.CutSuffix(status, "+")
				records = append(records, &livestate.Record{Revision: 100 - i, Status: status, Ready: ready})
			}
			due := RetirementOf(records, test.keep, LastReady(records))
			var got []string
			for _, record := range due.Supersede {
				got = append(got, fmt.Sprintf("supersede %d", 100-record.Revision))
			}
			for _, record := range due.Delete {
				got = append(got, fmt.Sprintf("delete %d", 100-record.Revision))
			}
			if strings.Join(got, ", ") != test.want || due.Empty() != (test.want == "") {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// releases makes releases one after the other, as reconciles do.
func releases(t *testing.T, b *bench, digests ...string) {
	t.Helper()
	for _, digest := range digests {
		snapshot := &livestate.Snapshot{Records: b.recorded(t)}
		if len(snapshot.Records) > 0 {
			snapshot.Record = snapshot.Records[0]
		}
		result := desired(t, chartutil.Values{"of": digest}, owned(t, "ConfigMap", "a", digest))
		result.Digest = digest
		owner := owner(t)
		owner.Object["spec"] = map[string]any{"of": digest}
		require.NoError(t, b.actor.Record(t.Context(), Task{Owner: owner, Chart: charted, Desired: result, Snapshot: snapshot, State: plan.OutOfDate}, nil))
		require.NoError(t, b.retire(t))
	}
}

// Three writes for each release: the new record, the mark on the one before, the deletion of the oldest.
func TestAReleaseTakesThreeWritesOfRecords(t *testing.T) {
	b := newBench(t)
	releases(t, b, "one", "two", "three", "four")
	b.server.log = nil
	releases(t, b, "five")
	b.check(t, []string{"create record 5 deployed", "update record 4 superseded", "delete record 2"}, "3 superseded, 4 superseded, 5 deployed")

	former, err := b.records(owner(t)).Get("web", 4)
	require.NoError(t, err)
	if former.Config["of"] != "four" || !strings.Contains(former.Manifest, "four") || former.Info.LastDeployed.IsZero() {
		t.Errorf("Helm reads of the release before: %v, %q, %+v", former.Config, former.Manifest, former.Info)
	}
	secret := b.secretOf(t, 4)
	if secret.Labels["status"] != "superseded" {
		t.Errorf("the record before says %s", secret.Labels["status"])
	}
	recorded, err := Decode(secret)
	require.NoError(t, err)
	if spec, _ := recorded.Source.Spec.(map[string]any); spec["of"] != "four" || len(recorded.Objects) != 1 {
		t.Errorf("it was made of %v, and has %d objects", recorded.Source, len(recorded.Objects))
	}
}

func (b *bench) secretOf(t *testing.T, revision int) *corev1.Secret {
	t.Helper()
	secret, err := b.secrets.CoreV1().Secrets("demo").Get(t.Context(), fmt.Sprintf("sh.helm.release.v1.web.v%d", revision), metav1.GetOptions{})
	require.NoError(t, err)
	return secret
}

// A damaged record of an earlier release does not delay the next one.
func TestFormerRecordsThatCannotBeMarkedStopNothing(t *testing.T) {
	cases := map[string]struct {
		harm   func(secret *corev1.Secret)
		refuse string // this request, as the API server does an immutable Secret
		want   string
	}{
		"it is damaged":   {func(s *corev1.Secret) { s.Data = map[string][]byte{"release": []byte("damaged")} }, "", "2 deployed"},
		"it is immutable": {func(*corev1.Secret) {}, "update record 1", "2 deployed"},
		"it is a bomb":    {func(s *corev1.Secret) { s.Data = map[string][]byte{"release": bombOf(t, maxUnpacked+1)} }, "", "2 deployed"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			releases(t, b, "one")
			secret := b.secretOf(t, 1)
			test.harm(secret)
			if _, err := b.secrets.CoreV1().Secrets("demo").Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			b.server.refuse = func(request string) error {
				if test.refuse != "" && strings.HasPrefix(request, test.refuse) {
					return invalid("x")
				}
				return nil
			}
			releases(t, b, "two")
			b.check(t, b.server.log, test.want)
		})
	}
}

func bombOf(t *testing.T, size int) []byte {
	t.Helper()
	var zipped bytes.Buffer
	writer := gzip.NewWriter(&zipped)
	if _, err := writer.Write(make([]byte, size)); err != nil {
		t.Fatal(err)
	}
	require.NoError(t, writer.Close())
	return []byte(base64.StdEncoding.EncodeToString(zipped.Bytes()))
}

// An older record never takes the place of one that is lost: the next has the number after it.
func TestALostRecordIsWrittenAgainAfterThoseThatAreLeft(t *testing.T) {
	b := newBench(t)
	releases(t, b, "one", "two", "three")
	require.NoError(t, b.secrets.CoreV1().Secrets("demo").Delete(t.Context(), "sh.helm.release.v1.web.v3", metav1.DeleteOptions{}))
	task := b.task(t, plan.Unfinished, nil)
	task.Desired.Digest, task.Snapshot.Records = "one", b.recorded(t)
	require.NoError(t, b.actor.Record(t.Context(), task, nil))
	if got, want := b.history(t), "1 superseded, 2 superseded, 3 deployed"; got != want {
		t.Errorf("got the records %q, want %q", got, want)
	}
}

func TestFormerRecordsMakeRoomWhereAQuotaLeavesNone(t *testing.T) {
	b := newBench(t)
	releases(t, b, "one", "two", "three")
	full := apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("exceeded quota: few, requested: secrets=1, used: secrets=3, limited: secrets=3"))
	for attempt, want := range []string{"2 superseded, 3 deployed", "3 deployed", "3 deployed"} {
		b.server.refuse = func(request string) error {
			if strings.HasPrefix(request, "create record") {
				return full
			}
			return nil
		}
		records := b.recorded(t)
		task := b.task(t, plan.OutOfDate, records[0])
		if err := b.actor.Record(t.Context(), task, nil); !apierrors.IsForbidden(err) {
			t.Errorf("attempt %d: got %v, want what the API server says", attempt+1, err)
		}
		if got := b.history(t); got != want {
			t.Errorf("attempt %d: got the records %q, want %q", attempt+1, got, want)
		}
	}
}

// The newest record says which release was Ready last; those of earlier operators say it of themselves.
func TestWhichReleaseWasReadyLast(t *testing.T) {
	former := []*livestate.Record{{Revision: 3}, {Revision: 2, Ready: true}, {Revision: 1, Ready: true}}
	for said, want := range map[string]int{"": 2, "0": 0, "3": 3, "1": 1, "9": 0} {
		got := 0
		if last := LastReady(append([]*livestate.Record{{Revision: 4, LastReady: said}}, former...)); last != nil {
			got = last.Revision
		}
		if got != want {
			t.Errorf("%q: got %d, want %d", said, got, want)
		}
	}
	if again := (&livestate.Record{Revision: 5, Ready: true, LastReady: "1"}); LastReady(append([]*livestate.Record{again}, former...)) != again {
		t.Error("a release that is applied again and was Ready does not count")
	}
	if LastReady(nil) != nil {
		t.Error("there is one among no records")
	}
}

// Not even then does the record go to which the next release may return.
func TestWhatWasReadyMakesNoRoom(t *testing.T) {
	b := newBench(t)
	releases(t, b, "one", "two")
	require.NoError(t, b.actor.Retire(t.Context(), owner(t), b.actor.Retirement(&livestate.Snapshot{Records: b.recorded(t)}, nil)))
	full := apierrors.NewForbidden(corev1.Resource("secrets"), "x", errors.New("exceeded quota: few, requested: secrets=1, used: secrets=2, limited: secrets=2"))
	b.server.refuse = func(request string) error {
		if strings.HasPrefix(request, "create record") {
			return full
		}
		return nil
	}
	all := b.recorded(t)
	all[len(all)-1].Ready = true
	before := b.history(t)
	task := b.task(t, plan.OutOfDate, all[0])
	task.Snapshot.Records = all
	if err := b.actor.Record(t.Context(), task, nil); !apierrors.IsForbidden(err) || b.history(t) != before {
		t.Errorf("got %v, and the records %s, want %s", err, b.history(t), before)
	}
}

func TestARecordSaysWhoChangedTheSpec(t *testing.T) {
	b := newBench(t)
	resource := owner(t)
	resource.SetGeneration(7)
	resource.Object["spec"] = map[string]any{"image": "nginx"}
	metadata := resource.Object["metadata"].(map[string]any)
	metadata["managedFields"] = []any{
		map[string]any{"manager": "argocd", "time": "2026-01-02T03:04:05Z", "fieldsV1": map[string]any{"f:spec": map[string]any{}}},
		map[string]any{"manager": "kubectl-label", "time": "2026-01-02T03:05:00Z", "fieldsV1": map[string]any{"f:metadata": map[string]any{}}},
	}
	task := b.task(t, plan.Absent, nil)
	task.Owner = resource
	require.NoError(t, b.actor.Record(t.Context(), task, nil))
	recorded, err := Decode(b.secretOf(t, 1))
	require.NoError(t, err)
	got := *recorded.Source
	want := Source{APIVersion: v1.GroupVersion.String(), Kind: v1.Kind, Generation: 7, ChangedBy: "argocd", ChangedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	spec, _ := got.Spec.(map[string]any)
	if got.Spec = nil; !reflect.DeepEqual(got, want) || spec["image"] != "nginx" {
		t.Errorf("got %+v of %v, want %+v", got, spec, want)
	}
}

// An operator before wrote the payload as two compressed texts, one after the other, with a copy that says superseded beside it.
func TestARecordWithTwoPayloadsIsMarked(t *testing.T) {
	b := newBench(t)
	releases(t, b, "one")
	secret := b.secretOf(t, 1)
	release, err := b.records(owner(t)).Get("web", 1)
	require.NoError(t, err)
	text, err := json.Marshal(release)
	require.NoError(t, err)
	var zipped bytes.Buffer
	for half := range slices.Chunk(text, len(text)/2+1) {
		require.NoError(t, compress(&zipped, half))
	}
	secret.Data[keyRelease] = []byte(base64.StdEncoding.EncodeToString(zipped.Bytes()))
	secret.Data["superseded"] = secret.Data[keyRelease]
	_, err = b.secrets.CoreV1().Secrets("demo").Update(t.Context(), secret, metav1.UpdateOptions{})
	require.NoError(t, err)
	releases(t, b, "two")
	b.check(t, b.server.log, "1 superseded, 2 deployed")
	secret = b.secretOf(t, 1)
	recorded, err := Decode(secret)
	require.NoError(t, err)
	if _, copied := secret.Data["superseded"]; copied || recorded.Manifest != release.Manifest || recorded.Config["of"] != "one" || recorded.Source == nil {
		t.Errorf("it holds %d entries, the manifest %q and the values %v", len(secret.Data), recorded.Manifest, recorded.Config)
	}
}
