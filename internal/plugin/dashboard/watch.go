package dashboard

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/example/appservice-operator/internal/engine/kube"
)

// patience is how long the first page waits for all kinds. Rows that come later are added to it.
const patience = 10 * time.Second

// Watch keeps the list up to date until the context ends, by one watch for each kind. It returns once all kinds were
// listed, or cannot be: the page says why.
func (s *Server) Watch(ctx context.Context, informers ctrlcache.Cache) error {
	for _, kind := range s.cluster.Kinds {
		informer, err := informers.GetInformer(ctx, kube.Object(kind), ctrlcache.BlockUntilSynced(false))
		if err == nil {
			_, err = informer.AddEventHandler(s.handler())
		}
		if err != nil {
			return fmt.Errorf("cannot watch resources of kind %s: %w", kind.Kind, err)
		}
	}
	go func() { _ = informers.Start(ctx) }() // it ends with the context
	wait, enough := context.WithTimeout(ctx, patience)
	defer enough()
	informers.WaitForCacheSync(wait)
	return ctx.Err()
}

func (s *Server) handler() cache.ResourceEventHandler {
	of := func(do func(Row)) func(any) {
		return func(object any) {
			if unknown, is := object.(cache.DeletedFinalStateUnknown); is {
				object = unknown.Obj
			}
			if resource, is := object.(*unstructured.Unstructured); is {
				do(rowOf(resource, s.cluster.Now()))
			}
		}
	}
	put := of(s.rows.put)
	return cache.ResourceEventHandlerFuncs{AddFunc: put, UpdateFunc: func(_, object any) { put(object) },
		DeleteFunc: of(func(row Row) { s.rows.remove(row.ID) })}
}

// observed passes requests on, and keeps which of them fail. The handler of watch errors would not do: a watch that is
// refused its connection tries again without a word, and nothing tells that it succeeds.
type observed struct {
	next http.RoundTripper
	rows *rows
}

// Observed returns a transport for the watches, by which the page learns that the cluster does not answer.
func (s *Server) Observed(transport http.RoundTripper) http.RoundTripper {
	return observed{transport, s.rows}
}

func (o observed) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := o.next.RoundTrip(r)
	switch {
	case err != nil:
		o.rows.trouble(r.URL.Path, err.Error())
	case response.StatusCode >= http.StatusBadRequest:
		body, _ := io.ReadAll(io.LimitReader(response.Body, 1<<16)) // what can be read of it
		_ = response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(body))
		var status metav1.Status
		_ = json.Unmarshal(body, &status) // a proxy may answer with another one
		o.rows.trouble(r.URL.Path, cmp.Or(status.Message, response.Status))
	default:
		o.rows.trouble(r.URL.Path, "")
	}
	return response, err
}
