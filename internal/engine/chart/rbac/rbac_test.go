package rbac

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/stretchr/testify/assert"

	v1 "github.com/example/appservice-operator/api/v1"
	appchart "github.com/example/appservice-operator/internal/engine/chart"
	"github.com/example/appservice-operator/internal/engine/kube"
)

var (
	cronJobs     = schema.GroupResource{Group: "batch", Resource: "cronjobs"}
	clusterRoles = schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterroles"}
)

// example renders a CronJob, a ClusterRole, and a Bucket, for which an installation may have no rights.
func example() *chart.Chart {
	said := map[string]string{appchart.AnnotationForeignKinds: "Bucket.example.com: {resource: pails, option: storage}"}
	return &chart.Chart{Metadata: &chart.Metadata{Annotations: said}, Templates: []*chart.File{
		{Name: "templates/bucket.yaml", Data: []byte("apiVersion: example.com/v1\nkind: Bucket\n")},
		{Name: "templates/cronjob.yaml", Data: []byte("apiVersion: batch/v1\nkind: CronJob\n")},
		{Name: "templates/role.yaml", Data: []byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n")},
	}}
}

func outsideOfNamespaces(kind schema.GroupVersionKind) bool { return kind.Kind == "ClusterRole" }

// said is the API server's answer where its authorizers refuse.
func said(verb string, of schema.GroupResource) error {
	why := fmt.Errorf("User %q cannot %s resource %q in API group %q in the namespace %q", "operator", verb, of.Resource, of.Group, "shop")
	return apierrors.NewForbidden(of, "web", why)
}

func TestExplain(t *testing.T) {
	cases := map[string]struct {
		err  error
		want string // empty for what is no matter of rights
	}{
		"a kind that may not be listed": {
			fmt.Errorf("cannot watch: %w", &kube.ForbiddenError{GroupResource: cronJobs}),
			`the operator may not list and watch cronjobs of API group "batch", which templates/cronjob.yaml renders: ` +
				`add get, list, watch, create, patch, delete for it to config/rbac/role.yaml`,
		},
		"an object that may not be written": {
			fmt.Errorf("CronJob web: %w", said("create", cronJobs)),
			`the operator may not create cronjobs of API group "batch", which templates/cronjob.yaml renders: ` +
				`add get, list, watch, create, patch, delete for it to config/rbac/role.yaml`,
		},
		"one outside of namespaces": {
			said("delete", clusterRoles),
			`the operator may not delete clusterroles of API group "rbac.authorization.k8s.io", which templates/role.yaml renders: ` +
				`add get, list, watch, create, patch, delete for it to config/rbac/cluster_role.yaml`,
		},
		"one that the installation did not ask for": {
			said("create", schema.GroupResource{Group: "example.com", Resource: "pails"}),
			`the operator may not create pails of API group "example.com", which templates/bucket.yaml renders: ` +
				`install the operator with the right storage (config/rights/storage)`,
		},
		"a kind that no template names": {
			said("patch", schema.GroupResource{Resource: "services"}),
			`the operator may not patch services of API group "": add get, list, watch, create, patch, delete for it to config/rbac/role.yaml`,
		},
		"a quota, which has the code of a missing right":      {apierrors.NewForbidden(cronJobs, "web", errors.New("exceeded quota: few, requested: count/cronjobs=1")), ""},
		"an admission policy, which has its code and reason":  {apierrors.NewForbidden(cronJobs, "web", errors.New("denied: cannot have that")), ""},
		"an object that is not valid":                         {apierrors.NewBadRequest("no"), ""},
		"what has nothing to do with the API server":          {errors.New("no"), ""},
		"a reference, which knows better than the chart does": {Reference(&kube.ForbiddenError{GroupResource: cronJobs}, "which the spec refers to", true), ""},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			err := Explain(test.err, example(), "", outsideOfNamespaces)
			if test.want == "" {
				if !errors.Is(err, test.err) || err.Error() != test.err.Error() {
					t.Errorf("got %v, want it as it was", err)
				}
				return
			}
			var missing *MissingError
			if !errors.As(err, &missing) || missing.Reason() != v1.ReasonMissingRights || err.Error() != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %v, want %s", err, test.want)
			}
		})
	}
}

func TestReference(t *testing.T) {
	got := Reference(&kube.ForbiddenError{GroupResource: cronJobs}, "which the spec refers to", false).Error()
	want := `the operator may not list and watch cronjobs of API group "batch", which the spec refers to: add get, list, watch for it to config/rbac/role.yaml`
	assert.Equal(t, want, got)
}

func TestAStatusHoldsTheMessage(t *testing.T) {
	longest := &kube.ForbiddenError{GroupResource: schema.GroupResource{Group: "autoscaling", Resource: "horizontalpodautoscalers"}}
	c := &chart.Chart{Metadata: &chart.Metadata{}, Templates: []*chart.File{{
		Name: "templates/horizontalpodautoscaler.yaml", Data: []byte("apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\n"),
	}}}
	if got := Explain(longest, c, "", nil).Error(); len(got) > 256 || !strings.Contains(got, "templates/horizontalpodautoscaler.yaml") {
		t.Errorf("it has %d characters: %s", len(got), got)
	}
}

// A published chart has one option for all rights, whichever kinds they are for.
func TestExplainNamesTheRightOfAPublishedChart(t *testing.T) {
	const remedy = "install the operator with the right web (config/rights/web)"
	foreign := schema.GroupResource{Group: "example.com", Resource: "horns"}
	for _, of := range []schema.GroupResource{cronJobs, clusterRoles, foreign} {
		if got := Explain(said("create", of), example(), "web", outsideOfNamespaces).Error(); !strings.HasSuffix(got, ": "+remedy) {
			t.Errorf("got %s", got)
		}
	}
	refused := apierrors.NewForbidden(clusterRoles, "web", errors.New("is "+granting+":\n{APIGroups:[\"\"], Resources:[\"nodes\"], Verbs:[\"list\"]}"))
	var grant *GrantError
	if !errors.As(Explain(refused, example(), "web", nil), &grant) || !strings.HasPrefix(grant.Hint(), remedy) {
		t.Errorf("got %v", grant)
	}
}
