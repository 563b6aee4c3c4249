package status

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	v1 "github.com/example/appservice-operator/api/v1"
)

func TestTheEndOfAResourceIsInItsStatus(t *testing.T) {
	cases := map[string]struct {
		ttl            string
		age, announced time.Duration
		refused        error
		// ends and again are ages; 0 for never.
		ends, again time.Duration
		problem     string
	}{
		"no end":               {"", time.Hour, 0, nil, 0, 0, ""},
		"far from it":          {"10m", time.Minute, 0, nil, 10 * time.Minute, 9 * time.Minute, ""},
		"close to it":          {"10m", 9 * time.Minute, 0, nil, 10 * time.Minute, 10 * time.Minute, "Expiring: AppService web will be deleted at 2026-01-01T00:10:00Z (spec.ttl 10m)"},
		"after it":             {"10m", time.Hour, 10 * time.Minute, nil, 10 * time.Minute, time.Hour + 2*time.Minute, "Expiring: AppService web will be deleted at 2026-01-01T00:10:00Z (spec.ttl 10m)"},
		"it was not announced": {"10m", time.Hour, 0, nil, 61 * time.Minute, 61 * time.Minute, "Expiring: AppService web will be deleted at 2026-01-01T01:01:00Z (spec.ttl 10m)"},
		"it was denied":        {"10m", time.Hour, 10 * time.Minute, errors.New("no\nright"), 10 * time.Minute, time.Hour + 2*time.Minute, "ExpirationFailed: deletion at 2026-01-01T00:10:00Z (spec.ttl) failed: no right"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in := Input{Resource: resource(), Previous: &v1.AppServiceStatus{}, Snapshot: snapshot(t), Undeleted: tc.refused, Now: metav1.NewTime(then.Add(tc.age))}
			in.Resource.SetCreationTimestamp(then)
			if tc.announced != 0 {
				in.Previous.ExpirationTime = &metav1.Time{Time: then.Add(tc.announced)}
			}
			require.NoError(t, unstructured.SetNestedField(in.Resource.Object, tc.ttl, "spec", "ttl"))
			after := func(age time.Duration) time.Time {
				if age == 0 {
					return time.Time{}
				}
				return then.Add(age)
			}
			got, again := Summarize(in)
			var ends time.Time
			if got.ExpirationTime != nil {
				ends = got.ExpirationTime.Time
			}
			if !ends.Equal(after(tc.ends)) || !again.Equal(after(tc.again)) {
				t.Errorf("it ends at %v and is looked at again at %v, want %v and %v", ends, again, after(tc.ends), after(tc.again))
			}
			problem := ""
			if found := Expiry(got); found != nil {
				problem = found.Reason + ": " + found.Message
				if found.Type != v1.ProblemWarning || found.Hint == "" {
					t.Errorf("got %+v", found)
				}
			}
			assert.Equal(t, tc.problem, problem, "problem")
		})
	}
}

func TestEarlier(t *testing.T) {
	a, b := then.Time, now.Time
	for name, tc := range map[string]struct{ a, b, want time.Time }{
		"neither": {}, "the first alone": {a, time.Time{}, a}, "the second alone": {time.Time{}, a, a}, "the first": {a, b, a}, "the second": {b, a, a},
	} {
		if got := earlier(tc.a, tc.b); !got.Equal(tc.want) {
			t.Errorf("%s: got %v", name, got)
		}
	}
}
