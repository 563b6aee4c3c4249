package dashboard

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	v1 "github.com/example/appservice-operator/api/v1"
)

// allowing is a cluster in which the user may do what is listed: VERB RESOURCE NAMESPACE.
func allowing(t *testing.T, err error, rights ...string) client.Client {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, authorizationv1.AddToScheme(scheme))
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{v1.Kind, "AppJob"} {
		mapper.Add(v1.GroupVersion.WithKind(kind), meta.RESTScopeNamespace)
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithRESTMapper(mapper).
		WithInterceptorFuncs(interceptor.Funcs{Create: func(_ context.Context, _ client.WithWatch, object client.Object, _ ...client.CreateOption) error {
			review := object.(*authorizationv1.SelfSubjectAccessReview)
			of := review.Spec.ResourceAttributes
			assert.Equal(t, v1.GroupVersion.Group, of.Group)
			for _, right := range rights {
				review.Status.Allowed = review.Status.Allowed || right == of.Verb+" "+of.Resource+" "+of.Namespace
			}
			return err
		}}).Build()
}

func TestAViewIsWhatTheUserMayListAndWatch(t *testing.T) {
	service, job := v1.GroupVersion.WithKind(v1.Kind), v1.GroupVersion.WithKind("AppJob")
	everywhere := []string{"list appservices ", "watch appservices ", "list appjobs ", "watch appjobs "}
	here := []string{"list appservices shop", "watch appservices shop", "list appjobs shop", "watch appjobs shop"}
	for name, test := range map[string]struct {
		namespaces, rights []string
		want               View
		err                string
	}{
		"all namespaces": {[]string{"", "shop"}, everywhere,
			View{Scope: "all namespaces", Kinds: []schema.GroupVersionKind{job, service}}, ""},
		"the namespace that was asked for": {[]string{"shop"}, here,
			View{Namespace: "shop", Scope: "namespace shop", Kinds: []schema.GroupVersionKind{job, service}}, ""},
		"the namespace of the context": {[]string{"", "shop"}, here,
			View{Namespace: "shop", Scope: "namespace shop", Kinds: []schema.GroupVersionKind{job, service}}, ""},
		"one kind in all namespaces": {[]string{"", "shop"}, everywhere[:2],
			View{Scope: "all namespaces", Kinds: []schema.GroupVersionKind{service},
				Left: []string{"AppJob is not shown: you may not list them in all namespaces"}}, ""},
		"one kind in the namespace": {[]string{"shop"}, here[:2],
			View{Namespace: "shop", Scope: "namespace shop", Kinds: []schema.GroupVersionKind{service},
				Left: []string{"AppJob is not shown: you may not list them in namespace shop"}}, ""},
		"a list, but no watch": {[]string{"shop"}, here[:3],
			View{Namespace: "shop", Scope: "namespace shop", Kinds: []schema.GroupVersionKind{service},
				Left: []string{"AppJob is not shown: you may not watch them in namespace shop"}}, ""},
		"nothing": {[]string{"", "shop"}, nil, View{},
			"AppJob is not shown: you may not list them in namespace shop; AppService is not shown: you may not list them in namespace shop"},
	} {
		t.Run(name, func(t *testing.T) {
			view, err := ViewOf(t.Context(), allowing(t, nil, test.rights...), []schema.GroupVersionKind{job, service}, test.namespaces...)
			if test.err != "" {
				require.EqualError(t, err, test.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, test.want, view)
		})
	}
	_, err := ViewOf(t.Context(), allowing(t, errors.New("no answer")), []schema.GroupVersionKind{service}, "")
	require.EqualError(t, err, "cannot ask the cluster what you may list: no answer")
	_, err = ViewOf(t.Context(), allowing(t, nil), []schema.GroupVersionKind{v1.GroupVersion.WithKind("Unknown")}, "")
	require.ErrorContains(t, err, "Unknown")
}
