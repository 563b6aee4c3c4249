package watch

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	watchapi "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/reference"
	"github.com/example/appservice-operator/internal/engine/release"
	"github.com/example/appservice-operator/internal/operator/policy"
)

func TestEventsReachThoseWhoRefer(t *testing.T) {
	settings := reference.Reference{Object: reference.Object{Kind: reference.ConfigMap, Name: "settings"}}
	class := reference.Reference{Object: reference.Object{Kind: reference.IngressClass, Name: "nginx"}}
	edge := reference.Reference{Object: reference.Object{Kind: reference.Gateway, Namespace: "infra", Name: "edge"}}
	web, other := types.NamespacedName{Namespace: "demo", Name: "web"}, types.NamespacedName{Namespace: "other", Name: "web"}
	r := &Referrers{Dependencies: reference.NewDependencies(nil, nil)}
	r.Refer(web, []reference.Reference{settings, class, edge})
	r.Refer(other, []reference.Reference{settings, class})
	cases := map[string]struct {
		kind, namespace, name string
		want                  []string
	}{
		"what one refers to":           {reference.ConfigMap, "demo", "settings", []string{"demo/web"}},
		"what is in no namespace":      {reference.IngressClass, "", "nginx", []string{"demo/web", "other/web"}},
		"what is in another namespace": {reference.Gateway, "infra", "edge", []string{"demo/web"}},
		"that name in its own":         {reference.Gateway, "demo", "edge", nil},
		"the namespace":                {"Namespace", "", "other", []string{"other/web"}},
		"what nobody refers to":        {reference.ConfigMap, "demo", "more", nil},
		"another kind of that name":    {reference.Secret, "demo", "settings", nil},
		"the name in some other place": {reference.ConfigMap, "third", "settings", nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if got := reached(r, test.kind, test.namespace, test.name); !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
	r.Refer(web, nil)
	if got := reached(r, reference.ConfigMap, "demo", "settings"); len(got) != 0 {
		t.Errorf("after the reference is gone, an event reaches %q", got)
	}
	if got := reached(r, "Namespace", "", "demo"); len(got) != 1 {
		t.Errorf("an event of the namespace reaches %q, want one: whoever lives in it refers to it", got)
	}
	r.Forget(web)
	if got := reached(r, "Namespace", "", "demo"); len(got) != 0 || len(r.of) != 1 {
		t.Errorf("after the resource is gone, an event reaches %q and %d resources are remembered", got, len(r.of))
	}
}

// Two watches have no order: a resource may be seen before its namespace, whose labels say which policy applies.
func TestNoPolicyIsChosenForANamespaceThatIsNotSeen(t *testing.T) {
	rules, err := policy.Read("policy.yaml", []byte(`namespaces: [{selector: {matchLabels: {tier: public}}, maxReplicas: 1}]`))
	require.NoError(t, err)
	informers, seen := &kube.Informers{}, fake.NewClientBuilder().Build() // without the event of the namespace
	events := watchapi.NewFakeWithChanSize(1, false)
	listed := kube.Metadata(reference.NamespaceKind)
	listed.ResourceVersion, listed.Annotations = "1", map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	events.Action(watchapi.Bookmark, listed)
	informer := informers.New(&cache.ListWatch{
		ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
			return &metav1.PartialObjectMetadataList{}, nil
		},
		WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watchapi.Interface, error) { return events, nil },
	}, kube.Metadata(reference.NamespaceKind), 0, nil)
	go informer.Run(t.Context().Done())
	r := &Referrers{
		Dependencies: reference.NewDependencies(seen, nil), FactsOf: policy.NewCurrent(rules).FactsOf, Informers: informers,
		watched: map[string]time.Time{reference.NamespaceKind.Kind: time.Now()},
	}
	resource := &unstructured.Unstructured{}
	resource.SetNamespace("demo")
	var stale *release.StaleError
	if facts, err := r.Facts(t.Context(), resource, nil); !errors.As(err, &stale) {
		t.Errorf("before the event of the namespace: got the policy %v, %v", facts.Policy, err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "demo", Labels: map[string]string{"tier": "public"}}}
	require.NoError(t, seen.Create(t.Context(), namespace))
	if facts, err := r.Facts(t.Context(), resource, nil); err != nil || *facts.Policy.(policy.Rules).MaxReplicas != 1 {
		t.Errorf("after it: got %v, %v", facts.Policy, err)
	}
}

// reached lists the resources that an event of an object makes a reconcile for.
func reached(r *Referrers, kind, namespace, name string) []string {
	q := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	defer q.ShutDown()
	gvk, _ := reference.KindOf(kind)
	object := kube.Metadata(gvk)
	object.Namespace, object.Name = namespace, name
	r.events(kind).Delete(nil, event.DeleteEvent{Object: object}, q) //nolint:staticcheck // the handler needs no context
	var list []string
	for q.Len() > 0 {
		request, _ := q.Get()
		list = append(list, request.String())
		q.Done(request)
	}
	slices.Sort(list)
	return list
}
