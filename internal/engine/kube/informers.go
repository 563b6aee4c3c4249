package kube

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/pager"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

// ErrUnlisted reports that the API server has not answered yet when it was asked for the objects of a kind. It does so,
// or ends the request, within a minute or so.
var ErrUnlisted = errors.New("the API server has not listed it yet")

// Informers creates the informers of a cache and knows which kinds it sees: all objects are listed, and the API server
// allows watching them. Kinds are independent: one that cannot be read does not block another. It is safe for
// concurrent use.
type Informers struct {
	mu    sync.Mutex
	feeds map[schema.GroupVersionKind][]*feed // one for each namespace that is served
}

// feed is an informer and the API server's last answer to it.
type feed struct {
	toolscache.SharedIndexInformer
	kind schema.GroupVersionKind
	list func(context.Context, metav1.ListOptions) (runtime.Object, error)

	mu   sync.Mutex
	last error
}

// ForbiddenError reports which right the operator lacks.
type ForbiddenError struct {
	schema.GroupResource
}

// Error names the resource as in a rule of a role.
func (e *ForbiddenError) Error() string {
	name := e.Resource
	if e.Group != "" {
		name = e.Group + "/" + name
	}
	return "the operator may not list and watch " + name
}

// New returns an informer. It is for cache.Options.NewInformer.
func (i *Informers) New(from toolscache.ListerWatcher, example runtime.Object, resync time.Duration,
	indexers toolscache.Indexers) toolscache.SharedIndexInformer {
	source := toolscache.ToListerWatcherWithContext(from)
	f := &feed{kind: kindOf(example), list: source.ListWithContext}
	f.SharedIndexInformer = toolscache.NewSharedIndexInformer(&toolscache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			list, err := source.ListWithContext(ctx, options)
			if err != nil { // a list alone does not keep a cache up to date, so it does not clear an error
				f.answered(ctx, err)
			}
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			events, err := source.WatchWithContext(ctx, options)
			f.answered(ctx, err)
			return events, err
		},
	}, example, resync, indexers)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.feeds == nil {
		i.feeds = map[schema.GroupVersionKind][]*feed{}
	}
	i.feeds[f.kind] = append(i.feeds[f.kind], f)
	return f
}

func kindOf(example runtime.Object) schema.GroupVersionKind {
	if kind := example.GetObjectKind().GroupVersionKind(); !kind.Empty() {
		return kind
	}
	kinds, _, err := scheme.Scheme.ObjectKinds(example)
	if err != nil {
		return schema.GroupVersionKind{}
	}
	return kinds[0]
}

// answered records an answer of the API server, and logs if it no longer allows watching the kind, or allows it again.
func (f *feed) answered(ctx context.Context, err error) {
	if ctx.Err() != nil {
		return
	}
	f.mu.Lock()
	before := f.last
	f.last = err
	f.mu.Unlock()
	switch logger := log.Log.WithValues("kind", f.kind.Kind, "group", f.kind.Group); {
	case apierrors.IsForbidden(err) && !apierrors.IsForbidden(before):
		logger.Error(f.forbidden(err), "kind cannot be watched")
	case err == nil && apierrors.IsForbidden(before):
		logger.Info("kind can be watched again")
	}
}

// seen returns nil if the informer shows all objects. An informer that has listed them remains usable while the API
// server cannot be reached; if watching them is forbidden, they stay stale.
func (f *feed) seen() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case apierrors.IsForbidden(f.last):
		return f.forbidden(f.last)
	case f.HasSynced():
		return nil
	case f.last != nil:
		return f.last
	}
	return ErrUnlisted
}

// forbidden returns which right is missing. The API server names the resource; a proxy before it may not.
func (f *feed) forbidden(err error) error {
	resource, _ := meta.UnsafeGuessKindToResource(f.kind)
	var answer apierrors.APIStatus
	if errors.As(err, &answer) && answer.Status().Details != nil {
		resource.Resource = answer.Status().Details.Kind
	}
	return &ForbiddenError{resource.GroupResource()}
}

// AddIndex adds an index to the existing informers of a kind.
func (i *Informers) AddIndex(kind schema.GroupVersionKind, name string, values func(client.Object) []string) error {
	for _, f := range i.of(kind) {
		of := func(object any) ([]string, error) { return values(object.(client.Object)), nil }
		err := f.AddIndexers(toolscache.Indexers{name: of})
		if err != nil {
			return err
		}
	}
	return nil
}

// ByIndex returns the objects of a kind that have a value in an index. They belong to the cache: they must not be
// changed.
func (i *Informers) ByIndex(kind schema.GroupVersionKind, name, value string) ([]client.Object, error) {
	var list []client.Object
	for _, f := range i.of(kind) {
		found, err := f.GetIndexer().ByIndex(name, value)
		if err != nil {
			return nil, err
		}
		for _, object := range found {
			list = append(list, object.(client.Object))
		}
	}
	return list, nil
}

// Seen returns nil if all objects of a kind are in the cache and are kept up to date, else why they are not.
func (i *Informers) Seen(kind schema.GroupVersionKind) error {
	feeds := i.of(kind)
	if len(feeds) == 0 {
		return ErrUnlisted
	}
	for _, f := range feeds {
		if err := f.seen(); err != nil {
			return err
		}
	}
	return nil
}

// Answered waits until the API server has answered when it was asked for each kind: with the objects, or with an error.
// It returns an error only if ctx ends before that.
func (i *Informers) Answered(ctx context.Context, kinds ...schema.GroupVersionKind) error {
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		return !slices.ContainsFunc(kinds,
			func(kind schema.GroupVersionKind) bool { return errors.Is(i.Seen(kind), ErrUnlisted) }), nil
	})
}

// Settle waits until it is known for each kind whether it is seen: its objects are listed, or the operator lacks the
// right, or the deadline has passed. It returns an error only if ctx ends before that.
func (i *Informers) Settle(ctx context.Context, deadline time.Time, kinds ...schema.GroupVersionKind) error {
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		return time.Now().After(deadline) || !slices.ContainsFunc(kinds, i.unsettled), nil
	})
}

// unsettled reports whether the first answer about a kind has not arrived yet.
func (i *Informers) unsettled(kind schema.GroupVersionKind) bool {
	var refused *ForbiddenError
	err := i.Seen(kind)
	return err != nil && !errors.As(err, &refused)
}

// CatchUp waits until the cache shows all objects of a kind in the version that the API server has when it is called,
// or in a later one. The watch of a process that begins to lead may be behind what the leader before acted on. It
// returns an error only if ctx ends before that.
func (i *Informers) CatchUp(ctx context.Context, kind schema.GroupVersionKind) error {
	for _, f := range i.of(kind) {
		pause := wait.Backoff{Duration: 20 * time.Millisecond, Factor: 2, Steps: 9, Cap: 5 * time.Second}
		if err := pause.DelayFunc().Until(ctx, true, true, f.caughtUp); err != nil {
			return err
		}
	}
	return nil
}

// caughtUp reports whether the informer shows everything that the API server has. The versions of the API server do not
// come from its cache. A kind that may not be listed is not shown at all.
func (f *feed) caughtUp(ctx context.Context) (bool, error) {
	err := pager.New(f.list).EachListItem(ctx, metav1.ListOptions{}, f.shows)
	if err != nil {
		log.Log.Info("not everything is in the cache yet", "kind", f.kind.Kind, "reason", err.Error())
	}
	return err == nil || apierrors.IsForbidden(err), nil
}

// shows returns an error if the informer lacks an object, or has an earlier version of it.
func (f *feed) shows(item runtime.Object) error {
	object := item.(client.Object)
	known, found, err := f.GetIndexer().GetByKey(client.ObjectKeyFromObject(object).String())
	if err == nil && (!found || Older(known.(client.Object), object)) {
		err = fmt.Errorf("the watch does not show %s yet", client.ObjectKeyFromObject(object))
	}
	return err
}

func (i *Informers) of(kind schema.GroupVersionKind) []*feed {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.feeds[kind]
}
