package operator

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
)

// reviewer stands for an API server that counts what it is asked. It knows one token.
type reviewer struct {
	asked atomic.Int64
	// hold is called while a review is under way.
	hold func()
}

const goodToken = "eyJhbGciOiJub25lIn0.e30.good"

func (r *reviewer) ServeHTTP(answer http.ResponseWriter, request *http.Request) {
	r.asked.Add(1)
	r.hold()
	answer.Header().Set("Content-Type", "application/json")
	review := &authenticationv1.TokenReview{}
	if request.URL.Path == "/apis/authorization.k8s.io/v1/subjectaccessreviews" {
		_ = json.NewEncoder(answer).Encode(&authorizationv1.SubjectAccessReview{Status: authorizationv1.SubjectAccessReviewStatus{Allowed: true}})
		return
	}
	_ = json.NewDecoder(request.Body).Decode(review)
	review.Status.Authenticated = review.Spec.Token == goodToken
	review.Status.User.Username = "prometheus"
	answer.WriteHeader(http.StatusCreated)
	_ = json.NewEncoder(answer).Encode(review)
}

// guarded returns the handler of metrics, which asks the reviewer.
func (r *reviewer) guarded(t *testing.T) http.Handler {
	t.Helper()
	served := httptest.NewServer(r)
	t.Cleanup(served.Close)
	config := &rest.Config{Host: served.URL, QPS: -1}
	config.ContentType = "application/json"
	filter, err := metricsAccess(config, served.Client())
	require.NoError(t, err)
	handler, err := filter(logr.Discard(), http.HandlerFunc(func(answer http.ResponseWriter, _ *http.Request) { answer.WriteHeader(http.StatusOK) }))
	require.NoError(t, err)
	return handler
}

func scrape(handler http.Handler, authorization string) int {
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Authorization", authorization)
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	return answer.Code
}

func TestWhatIsNoTokenIsNotAskedAbout(t *testing.T) {
	r := &reviewer{hold: func() {}}
	handler := r.guarded(t)
	for _, authorization := range []string{"", "Bearer", "Bearer 1234567", "Bearer a.b.c", "Basic eyJh.e30.x", "Bearer eyJhbGciOiJub25lIn0.e30"} {
		if got := scrape(handler, authorization); got != http.StatusUnauthorized {
			t.Errorf("%q is answered %d", authorization, got)
		}
	}
	if asked := r.asked.Load(); asked != 0 {
		t.Errorf("the API server was asked %d times", asked)
	}
	if got := scrape(handler, "Bearer "+goodToken); got != http.StatusOK {
		t.Errorf("the token of a service account is answered %d", got)
	}
	before := r.asked.Load()
	if got := scrape(handler, "Bearer "+goodToken); got != http.StatusOK || r.asked.Load() != before {
		t.Errorf("the second scrape is answered %d, after %d more questions", got, r.asked.Load()-before)
	}
}

// Whoever reaches the port can make up tokens as fast as they like.
func TestAFloodOfTokensAsksALimitedNumberOfTimes(t *testing.T) {
	const flood = 300
	r := &reviewer{hold: func() {}}
	handler := r.guarded(t)
	began := time.Now()
	var all sync.WaitGroup
	answers := map[int]int{}
	var mu sync.Mutex
	for i := range flood {
		all.Go(func() {
			code := scrape(handler, fmt.Sprintf("Bearer eyJhbGciOiJub25lIn0.e30.%d", i))
			mu.Lock()
			defer mu.Unlock()
			answers[code]++
		})
	}
	all.Wait()
	most := reviewsAtOnce + 1 + int64(reviewsPerSecond*time.Since(began).Seconds())
	if asked := r.asked.Load(); asked > most {
		t.Errorf("the API server was asked %d times, want %d at most", asked, most)
	}
	if answers[http.StatusOK] != 0 || answers[http.StatusTooManyRequests] == 0 {
		t.Errorf("got the answers %v", answers)
	}
	t.Logf("%d tokens: %d reviews in %s, answers %v", flood, r.asked.Load(), time.Since(began), answers)
}

// An API server that does not answer holds a limited number of requests.
func TestALimitedNumberOfRequestsWait(t *testing.T) {
	arrived, held := make(chan struct{}, scrapesAtOnce), make(chan struct{})
	r := &reviewer{hold: func() { arrived <- struct{}{}; <-held }}
	handler := r.guarded(t)
	waits := make(chan int, scrapesAtOnce)
	for i := range scrapesAtOnce {
		go func() { waits <- scrape(handler, fmt.Sprintf("Bearer eyJhbGciOiJub25lIn0.e30.%d", i)) }()
	}
	for range scrapesAtOnce {
		<-arrived
	}
	if got := scrape(handler, "Bearer "+goodToken); got != http.StatusTooManyRequests {
		t.Errorf("one more is answered %d", got)
	}
	close(held)
	for range scrapesAtOnce {
		if got := <-waits; got == http.StatusOK {
			t.Error("a token that is not known is let through")
		}
	}
}
