package release

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clienttesting "k8s.io/client-go/testing"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// Only the very record that was seen is marked or rewritten: one that someone changed since, or made again, is looked at again first.
func TestARecordThatIsAnotherByNowIsLeftAlone(t *testing.T) {
	for name, test := range map[string]struct {
		harm func(secret *corev1.Secret)
		seen func(record *livestate.Record)
	}{
		"it has changed":    {func(*corev1.Secret) {}, func(r *livestate.Record) { r.Version = "7" }},
		"it was made again": {func(*corev1.Secret) {}, func(r *livestate.Record) { r.UID = "another" }},
		"it was made again, and nobody can read that": {func(s *corev1.Secret) { s.Data = map[string][]byte{keyRelease: []byte("damaged")} }, func(r *livestate.Record) { r.UID = "another" }},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			releases(t, b, "one", "two")
			secret := b.secretOf(t, 2)
			test.harm(secret)
			if _, err := b.secrets.CoreV1().Secrets("demo").Update(t.Context(), secret, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			version := b.secretOf(t, 2).ResourceVersion
			b.secrets.PrependReactor("update", "secrets", func(a clienttesting.Action) (bool, runtime.Object, error) {
				record := a.(clienttesting.UpdateAction).GetObject().(*corev1.Secret)
				if record.ResourceVersion == version {
					return false, nil, nil
				}
				return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), record.Name, errors.New("it has changed"))
			})
			due := Retirement{Supersede: b.recorded(t)[:1]}
			test.seen(due.Supersede[0])
			var stale *StaleError
			if err := b.actor.Retire(t.Context(), owner(t), due); !errors.As(err, &stale) {
				t.Errorf("got %v", err)
			}
			if status := b.secretOf(t, 2).Labels["status"]; status != "deployed" {
				t.Errorf("the record is %s", status)
			}
		})
	}
}

// A rollout is that of the newest record: what an earlier one still says of it is left over.
func TestASupersededRecordBelongsToNoRollout(t *testing.T) {
	b := newBench(t)
	releases(t, b, "one", "two")
	secret := b.secretOf(t, 2)
	secret.Labels[v1.LabelRollout] = "a.1.20260101T000000Z.1.0"
	_, err := b.secrets.CoreV1().Secrets("demo").Update(t.Context(), secret, metav1.UpdateOptions{})
	require.NoError(t, err)
	require.NoError(t, b.actor.Retire(t.Context(), owner(t), Retirement{Supersede: b.recorded(t)[:1]}))
	require.Equal(t, "superseded", b.secretOf(t, 2).Labels["status"])
	require.NotContains(t, b.secretOf(t, 2).Labels, v1.LabelRollout)
}

// A deletion that conflicts is tried again: nothing else would come of it until the next release.
func TestARecordThatCannotBeDeletedYetIsTriedAgain(t *testing.T) {
	b := newBench(t)
	releases(t, b, "one", "two")
	b.secrets.PrependReactor("delete", "secrets", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewConflict(corev1.Resource("secrets"), "sh.helm.release.v1.web.v1", errors.New("it has changed"))
	})
	var stale *StaleError
	if err := b.actor.Retire(t.Context(), owner(t), Retirement{Delete: b.recorded(t)[1:]}); !errors.As(err, &stale) {
		t.Errorf("got %v, want a StaleError", err)
	}
}

// Leftovers of one release can wait while something moves; more than that shows a time when the operator could not delete them.
func TestWhatOneReleaseLeavesBehind(t *testing.T) {
	record := &livestate.Record{}
	for name, test := range map[string]struct {
		due  Retirement
		want bool
	}{
		"nothing":              {Retirement{}, true},
		"one of each":          {Retirement{Supersede: []*livestate.Record{record}, Delete: []*livestate.Record{record}}, true},
		"two to be superseded": {Retirement{Supersede: []*livestate.Record{record, record}}, false},
		"two to be deleted":    {Retirement{Delete: []*livestate.Record{record, record}}, false},
	} {
		if got := test.due.OfOne(); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
