package operator

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/operator-framework/helm-operator-plugins/pkg/watches"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"github.com/example/appservice-operator/internal/engine/chart"
)

var (
	here    = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Here"}
	missing = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Missing"}
)

// mapping knows one kind, and has an answer for all others.
type mapping struct {
	meta.RESTMapper
	err error
}

func (m mapping) RESTMapping(kind schema.GroupKind, versions ...string) (*meta.RESTMapping, error) {
	if kind == here.GroupKind() || m.err == nil {
		return &meta.RESTMapping{GroupVersionKind: kind.WithVersion(versions[0])}, nil
	}
	return nil, m.err
}

func TestKindsThatTheClusterDoesNotServe(t *testing.T) {
	notFound := apierrors.NewNotFound(schema.GroupResource{}, "")
	discovery := func(err error) error { return &apiutil.ErrResourceDiscoveryFailed{missing.GroupVersion(): err} }
	cases := map[string]struct {
		err   error
		kinds []schema.GroupVersionKind
		want  string // kinds that are served, a bar, and those that are awaited
		fails string
	}{
		"all are served":                        {nil, []schema.GroupVersionKind{here, missing}, "Here Missing|", ""},
		"one is missing in a group that is not": {&meta.NoKindMatchError{}, []schema.GroupVersionKind{here, missing}, "Here|Missing.example.com", ""},
		"its whole group is missing":            {discovery(notFound), []schema.GroupVersionKind{here, missing}, "Here|Missing.example.com", ""},
		"nothing is served":                     {&meta.NoKindMatchError{}, []schema.GroupVersionKind{missing}, "|Missing.example.com", ""},
		"the API server does not say of one":    {discovery(apierrors.NewServiceUnavailable("later")), []schema.GroupVersionKind{here, missing}, "Here|Missing.example.com", ""},
		"the API server does not say of any":    {discovery(apierrors.NewServiceUnavailable("later")), []schema.GroupVersionKind{missing}, "", "cannot find the resource of Missing"},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			var list []chart.Watch
			for _, kind := range test.kinds {
				list = append(list, chart.Watch{Watch: watches.Watch{GroupVersionKind: kind}})
			}
			there, absent, err := split(mapping{err: test.err}, list)
			if test.fails != "" {
				if err == nil || !strings.Contains(err.Error(), test.fails) {
					t.Errorf("got %v, want %s", err, test.fails)
				}
				return
			}
			if served := absent.ready(there) == nil; served != (len(there) > 0) {
				t.Errorf("ready is %t", served)
			}
			var names []string
			for _, entry := range there {
				names = append(names, entry.Kind)
			}
			if got := strings.Join(names, " ") + "|" + absent.String(); err != nil || got != test.want {
				t.Errorf("got %s, %v, want %s", got, err, test.want)
			}
		})
	}
}

func TestTheManagerMayEndWhileItWaitsForKinds(t *testing.T) {
	ended, end := context.WithCancel(t.Context())
	end()
	absent := awaited{kinds: []schema.GroupVersionKind{missing}, mapper: mapping{err: errors.New("no")}}
	if err := absent.Start(ended); err != nil {
		t.Errorf("got %v", err)
	}
}
