package controller

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/engine/release/plan"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/values"
	"github.com/example/appservice-operator/internal/engine/watch"
	"github.com/example/appservice-operator/internal/operator/hosts"
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
		"a kind is not served":                     {&render.UnservedError{}, v1.ReasonAPIUnavailable, true},
		"an object is somebody else's":             {&release.NotOursError{Key: key}, v1.ReasonResourceExists, true},
		"pods are below Baseline":                  {renderFailed(&postrender.PodSecurityError{Kind: "Deployment", Name: "web"}), v1.ReasonPodSecurityViolation, true},
		"something is missing":                     {&reference.MissingError{}, v1.ReasonDependencyMissing, true},
		"a host is taken":                          {&hosts.ConflictError{Path: "a.example.com/"}, v1.ReasonHostConflict, true},
		"the release record is damaged":            {&release.DamagedError{Revision: 1, Secret: "x"}, v1.ReasonRecordDamaged, true},
		"an object of an earlier resource":         {&release.PreviousError{Left: []release.Remnant{{Key: key}}}, v1.ReasonPending, false},
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
		t.Run(name, func(t *testing.T) {
			want := test.reason
			if want == "" {
				want = v1.ReasonRepairFailed
			}
			got := problemOf(test.err, nil, v1.ReasonRepairFailed, noon)
			if got.Reason != want || got.Blocked != test.blocked || got.Message != test.err.Error() {
				t.Errorf("got %+v, want reason %s, blocked %t", got, want, test.blocked)
			}
		})
	}
}

func TestWhoeverIsAtFaultIsTold(t *testing.T) {
	mistake := &render.ChartError{Chart: "web 1.0.0", Err: errors.New("x")}
	override := &values.OverrideError{Key: "size", Err: errors.New("x")}
	cases := map[string]struct {
		err          error
		reason, hint string // "" for the hint of the reason
	}{
		"the chart":                            {renderFailed(mistake), v1.ReasonRenderFailed, mistake.Hint()},
		"the chart, and nothing is kept alive": {&decayingError{renderFailed(mistake), errors.New("y")}, v1.ReasonRenderFailed, mistake.Hint()},
		"the chart, says the API server":       {mistake, v1.ReasonUpgradeFailed, mistake.Hint()},
		"the spec":                             {renderFailed(&render.SpecError{Message: "spec.size: required"}), v1.ReasonRenderFailed, ""},
		"the type of a value in the spec":      {renderFailed(&render.InvalidSpecError{Err: errors.New("x")}), v1.ReasonInvalidSpec, ""},
		"a value of the platform team":         {renderFailed(&render.InvalidSpecError{Err: override}), v1.ReasonInvalidSpec, override.Hint()},
		"nobody who may allow the pods": {renderFailed(&postrender.PodSecurityError{Level: postrender.Baseline, Source: postrender.ByDefault}), v1.ReasonPodSecurityViolation,
			"change the security context that the message names, or ask the administrator of the namespace for its label pod-security.kubernetes.io/enforce: privileged"},
		"pods that the namespace does not allow": {renderFailed(&postrender.PodSecurityError{Level: postrender.Baseline, Source: postrender.ByNamespace}), v1.ReasonPodSecurityViolation, ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := problemOf(test.err, nil, v1.ReasonUpgradeFailed, noon)
			if got.Reason != test.reason || got.Hint != test.hint || !got.Blocked {
				t.Errorf("got %+v, want %s with the hint %q", got, test.reason, test.hint)
			}
		})
	}
}

func TestWhatIsWorthTheTimeOfTheNextAttempt(t *testing.T) {
	cases := map[string]struct {
		err  error
		want bool
	}{
		"nothing failed":                     {nil, false},
		"the API server refuses an object":   {apierrors.NewForbidden(schema.GroupResource{Resource: "things"}, "web", errors.New("exceeded quota")), true},
		"the API server does not answer":     {&url.Error{Op: "Patch", URL: "https://x", Err: syscall.ECONNREFUSED}, true},
		"an object is somebody else's":       {&release.NotOursError{}, true},
		"a kind cannot be watched":           {&watch.UntrackedError{Err: errors.New("x")}, true},
		"the release record is damaged":      {&release.DamagedError{}, true},
		"what runs cannot be repaired":       {&decayingError{renderFailed(errors.New("x")), errors.New("y")}, true},
		"the chart is at fault":              {renderFailed(&render.ChartError{Err: errors.New("x")}), false},
		"the spec is at fault":               {renderFailed(&render.InvalidSpecError{Err: errors.New("x")}), false},
		"nobody was asked":                   {&plan.RefusedError{}, false},
		"a node port is taken":               {&plan.RefusedError{Err: errors.New("x")}, true},
		"something is missing":               {&reference.MissingError{}, false},
		"a host is taken":                    {&hosts.ConflictError{}, false},
		"pods are below what is enforced":    {renderFailed(&postrender.PodSecurityError{}), false},
		"an object of an earlier resource":   {&release.PreviousError{}, false},
		"the caches are behind":              {&release.StaleError{Err: errors.New("x")}, false},
		"another process wrote the same one": {apierrors.NewConflict(schema.GroupResource{Resource: "things"}, "web", errors.New("x")), false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := isRetried(test.err); got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestWhatIsStillToGoIsAProblemThatPasses(t *testing.T) {
	going := kube.Metadata(kube.SecretKind)
	going.Name, going.Finalizers = "web", []string{"example.com/hold"}
	going.DeletionTimestamp = new(metav1.NewTime(noon))
	refusal := errors.New("refused")
	cases := map[string]struct {
		err  error
		plan *plan.Plan
		want string
	}{
		"nothing is planned":               {nil, nil, ""},
		"nothing is going":                 {nil, &plan.Plan{}, ""},
		"something is going":               {nil, &plan.Plan{Terminating: []client.Object{going}}, "waiting for deletion to finish before recreating: Secret web (since 2026-01-01T12:00:00Z, blocked by finalizer example.com/hold)"},
		"an error is reported before that": {refusal, &plan.Plan{Terminating: []client.Object{going}}, "refused"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			got := problemOf(test.err, test.plan, v1.ReasonRepairFailed, noon)
			switch {
			case (got == nil) != (test.want == ""):
				t.Errorf("got %+v, want %q", got, test.want)
			case got != nil && (got.Message != test.want || got.Blocked || test.err == nil && got.Reason != v1.ReasonPending):
				t.Errorf("got %+v, want Pending with %q, not blocked", got, test.want)
			}
		})
	}
}

// noon is when these tests look.
var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

func TestWhatShouldBeGoneIsAProblem(t *testing.T) {
	object := kube.Metadata(kube.SecretKind)
	object.Name, object.Namespace, object.Finalizers = "web", "demo", []string{"example.com/hold"}
	object.DeletionTimestamp = new(metav1.NewTime(noon))
	going := kube.DeletionOf(object)
	for name, test := range map[string]struct {
		err  error
		plan *plan.Plan
	}{
		"an object that is rendered again": {nil, &plan.Plan{Terminating: []client.Object{object}}},
		"of an earlier resource":           {&release.PreviousError{Left: []release.Remnant{{Key: kube.KeyOf(object)}, {Key: kube.KeyOf(object), Going: going}}}, nil},
		"of the Job of an earlier release": {fmt.Errorf("a Job: %w", &release.EarlierRunError{Left: []string{"Pod a"}, Going: []*kube.Deletion{going}}), nil},
	} {
		t.Run(name, func(t *testing.T) {
			for after, want := range map[time.Duration]string{29 * time.Second: v1.ReasonPending, 30 * time.Second: v1.ReasonDeletionBlocked} {
				got := problemOf(test.err, test.plan, v1.ReasonRepairFailed, noon.Add(after))
				late := want == v1.ReasonDeletionBlocked
				if got.Reason != want || got.Blocked != late || strings.Contains(got.Hint, "kubectl patch secret web --namespace=demo") != late {
					t.Errorf("after %s: got %+v, want %s", after, got, want)
				}
			}
		})
	}
}

func TestErrorsKeepTheirCause(t *testing.T) {
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

func TestAMistakeInTheChartIsNothingThatPasses(t *testing.T) {
	mistake := &render.ChartError{Chart: "web 1.0.0", Err: apierrors.NewInternalError(errors.New("x"))}
	if !isBlocked(mistake) || !problemOf(mistake, nil, v1.ReasonInstallFailed, noon).Blocked {
		t.Error("it is tried again as if it might pass")
	}
}
