package status

import (
	"reflect"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

func TestResources(t *testing.T) {
	key := func(group, kind, name string) kube.Key {
		return kube.Key{GroupKind: schema.GroupKind{Group: group, Kind: kind}, Name: name}
	}
	in := states()["rolling out for the first time"].input(t)
	in.Rendered = []kube.Key{key("", "Service", "web"), key("apps", "Deployment", "web")}
	want := []v1.ResourceStatus{
		{Kind: "Service", Name: "web", State: v1.ResourceWaiting, Message: "does not exist"},
		{Kind: "Deployment", Name: "web", State: v1.ResourceWaiting, Message: "0 of 2 replicas are available"},
	}
	in.Previous = summarize(in)
	if got := in.Previous.Resources; !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	in.Rendered = nil
	if got := summarize(in).Resources; !reflect.DeepEqual(got, want) {
		t.Errorf("where nothing can be rendered: got %v, want what was there before", got)
	}
}

// Objects that were never written are not missing.
func TestNothingIsListedBeforeItIsWritten(t *testing.T) {
	in := states()["rolling out for the first time"].input(t)
	in.Snapshot.Objects, in.Snapshot.Record = nil, nil
	if got := summarize(in).Resources; got != nil {
		t.Errorf("got %v", got)
	}
	in.Previous = &v1.AppServiceStatus{Release: &v1.ReleaseStatus{Revision: 1}}
	if got := summarize(in).Resources; len(got) != len(in.Rendered) {
		t.Errorf("of what was released before: got %v", got)
	}
}
