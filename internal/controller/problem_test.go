package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/cluster"
	"github.com/example/appservice-operator/internal/dependency"
	"github.com/example/appservice-operator/internal/hosts"
	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/postrender"
	"github.com/example/appservice-operator/internal/release"
	"github.com/example/appservice-operator/internal/render"
	"github.com/example/appservice-operator/internal/watch"
)

func TestProblem(t *testing.T) {
	things, thing := schema.GroupResource{Resource: "things"}, schema.GroupKind{Kind: "Thing"}
	key := kube.Key{GroupKind: schema.GroupKind{Kind: "Service"}, Name: "web"}
	status := func(code int) error {
		return apierrors.NewGenericServerResponse(code, "patch", things, "web", "a proxy says so", 0, true)
	}
	cases := map[string]struct {
		err     error
		reason  string // "" for that of the action
		blocked bool
	}{
		"the spec cannot be translated":            {renderFailed(&render.InvalidSpecError{Err: errors.New("x")}), v1.ReasonInvalidSpec, true},
		"a template fails":                         {renderFailed(errors.New("x")), v1.ReasonRenderFailed, true},
		"a kind cannot be watched":                 {&watch.UntrackedError{Err: errors.New("x")}, v1.ReasonAPIUnavailable, true},
		"an object is somebody else's":             {&release.NotOursError{Key: key}, v1.ReasonResourceExists, true},
		"pods are below Baseline":                  {renderFailed(&postrender.PodSecurityError{Kind: "Deployment", Name: "web"}), v1.ReasonPodSecurityViolation, true},
		"something is missing":                     {&dependency.MissingError{}, v1.ReasonDependencyMissing, true},
		"a host is taken":                          {&hosts.ConflictError{Claim: "a.example.com/"}, v1.ReasonHostConflict, true},
		"the release record is damaged":            {&release.DamagedError{Revision: 1, Secret: "x"}, v1.ReasonRecordDamaged, true},
		"an object of an earlier resource":         {&release.PreviousError{Key: key}, v1.ReasonPending, false},
		"refused as invalid":                       {apierrors.NewInvalid(thing, "web", nil), "", true},
		"refused as invalid, in other words":       {fmt.Errorf("upgrade failed: %w", apierrors.NewInvalid(thing, "web", nil)), "", true},
		"refused as invalid, among others":         {errors.Join(errors.New("x"), apierrors.NewInvalid(thing, "web", nil)), "", true},
		"refused as forbidden":                     {apierrors.NewForbidden(things, "web", errors.New("exceeded quota")), "", true},
		"refused as a bad request":                 {apierrors.NewBadRequest("x"), "", true},
		"refused as too large":                     {apierrors.NewRequestEntityTooLargeError("x"), "", true},
		"refused as unknown":                       {apierrors.NewNotFound(things, "web"), "", true},
		"refused as not permitted by a method":     {apierrors.NewMethodNotSupported(things, "patch"), "", true},
		"not now: an internal error":               {apierrors.NewInternalError(errors.New("x")), "", false},
		"not now: an error of etcd":                {status(http.StatusInternalServerError), "", false},
		"not now: a bad gateway":                   {status(http.StatusBadGateway), "", false},
		"not now: the service is unavailable":      {apierrors.NewServiceUnavailable("x"), "", false},
		"not now: too many requests":               {apierrors.NewTooManyRequests("x", 1), "", false},
		"not now: too many requests, says a proxy": {apierrors.NewTooManyRequestsError("x"), "", false},
		"not now: a timeout of the server":         {apierrors.NewServerTimeout(things, "patch", 1), "", false},
		"not now: a gateway timeout":               {apierrors.NewTimeoutError("x", 1), "", false},
		"not now: a request timeout, says a proxy": {status(http.StatusRequestTimeout), "", false},
		"not now: a conflict":                      {apierrors.NewConflict(things, "web", errors.New("x")), v1.ReasonPending, false},
		"not now: the connection is refused":       {&url.Error{Op: "Patch", URL: "https://x", Err: syscall.ECONNREFUSED}, "", false},
		"not now: a deadline":                      {fmt.Errorf("patch: %w", context.DeadlineExceeded), "", false},
		"not now: the caches are behind":           {&release.StaleError{Err: errors.New("x")}, v1.ReasonPending, false},
		"not now: something nobody thought of":     {errors.New("x"), "", false},
	}
	for name, test := range cases {
		for state, ofAction := range map[release.State]string{
			release.Absent: v1.ReasonInstallFailed, release.OutOfDate: v1.ReasonUpgradeFailed,
			release.Unfinished: v1.ReasonInstallFailed, release.Drifted: v1.ReasonRepairFailed,
		} {
			t.Run(fmt.Sprintf("%s, %s", name, state), func(t *testing.T) {
				want := test.reason
				if want == "" {
					want = ofAction
				}
				got := problemOf(action{state: state, there: &cluster.Snapshot{}, err: test.err})
				if got.Reason != want || got.Blocked != test.blocked || got.Message != test.err.Error() {
					t.Errorf("got %+v, want reason %s, blocked %t", got, want, test.blocked)
				}
			})
		}
	}
}

func TestWhatIsStillToGoIsAProblemThatPasses(t *testing.T) {
	going := app("a", "1")
	going.SetFinalizers([]string{"example.com/hold"})
	refusal := errors.New("refused")
	cases := map[string]struct {
		done action
		want string
	}{
		"nothing is planned":           {action{}, ""},
		"nothing is going":             {action{plan: &release.Plan{}}, ""},
		"something is going":           {action{plan: &release.Plan{Going: []client.Object{going}}}, "waiting until what was deleted is gone, to make it anew: AppService web (held by finalizer example.com/hold)"},
		"an error is told before that": {action{plan: &release.Plan{Going: []client.Object{going}}, there: &cluster.Snapshot{}, err: refusal}, "refused"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := problemOf(test.done)
			switch {
			case (got == nil) != (test.want == ""):
				t.Errorf("got %+v, want %q", got, test.want)
			case got != nil && (got.Message != test.want || got.Blocked || test.done.err == nil && got.Reason != v1.ReasonPending):
				t.Errorf("got %+v, want Pending with %q, not blocked", got, test.want)
			}
		})
	}
}

func TestALaterReleaseThatIsTakenUpAgainIsAnUpgrade(t *testing.T) {
	there := &cluster.Snapshot{Record: &cluster.Record{Revision: 2}}
	if got := problemOf(action{state: release.Unfinished, there: there, err: errors.New("x")}); got.Reason != v1.ReasonUpgradeFailed {
		t.Errorf("got %s, want %s", got.Reason, v1.ReasonUpgradeFailed)
	}
}

func TestNoErrorIsNoProblem(t *testing.T) {
	if got := problemOf(action{state: release.Drifted}); got != nil {
		t.Errorf("got %+v", got)
	}
}

func TestErrorsOfTheControllerKeepTheirCause(t *testing.T) {
	cause := errors.New("the cause")
	kind := schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}
	cases := map[string]struct {
		err  error
		want string
	}{
		"render":    {&renderError{cause}, "the cause"},
		"untracked": {&watch.UntrackedError{Kind: kind, Err: cause}, "the chart renders monitoring.coreos.com/v1 ServiceMonitor, which cannot be watched: the cause"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if !errors.Is(test.err, cause) || test.err.Error() != test.want {
				t.Errorf("got %v, want %q", test.err, test.want)
			}
		})
	}
}
