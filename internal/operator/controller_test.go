package operator

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestErrorsBackOffUpToTwoMinutes(t *testing.T) {
	limiter := rateLimiter()
	if first := limiter.When(reconcile.Request{}); first > time.Second {
		t.Errorf("the first retry comes after %s, want within moments", first)
	}
	var last time.Duration
	for range 100 {
		last = limiter.When(reconcile.Request{})
	}
	if last != 2*time.Minute {
		t.Errorf("retries are %s apart in the end, want 2m as documented", last)
	}
}
