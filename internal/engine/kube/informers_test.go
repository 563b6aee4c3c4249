package kube

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	toolscache "k8s.io/client-go/tools/cache"
)

var widget = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}

// widgets makes a list of objects with names and versions.
func widgets(next string, versions map[string]string) *unstructured.UnstructuredList {
	list := &unstructured.UnstructuredList{}
	list.SetContinue(next)
	for name, version := range versions {
		item := unstructured.Unstructured{Object: map[string]any{}}
		item.SetGroupVersionKind(widget)
		item.SetNamespace("demo")
		item.SetName(name)
		item.SetResourceVersion(version)
		list.Items = append(list.Items, item)
	}
	return list
}

func TestAnInformerHasCaughtUpOnceItShowsWhatTheAPIServerHas(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "widgets"}, "", errors.New("no"))
	for name, test := range map[string]struct {
		shown map[string]string
		pages []*unstructured.UnstructuredList
		err   error
		want  bool
	}{
		"nothing is there":               {nil, []*unstructured.UnstructuredList{widgets("", nil)}, nil, true},
		"the same":                       {map[string]string{"a": "5"}, []*unstructured.UnstructuredList{widgets("", map[string]string{"a": "5"})}, nil, true},
		"newer, by an event after that":  {map[string]string{"a": "10"}, []*unstructured.UnstructuredList{widgets("", map[string]string{"a": "9"})}, nil, true},
		"an earlier version":             {map[string]string{"a": "9"}, []*unstructured.UnstructuredList{widgets("", map[string]string{"a": "10"})}, nil, false},
		"one is missing":                 {map[string]string{"a": "5"}, []*unstructured.UnstructuredList{widgets("", map[string]string{"a": "5", "b": "6"})}, nil, false},
		"one that is deleted":            {map[string]string{"a": "5", "b": "6"}, []*unstructured.UnstructuredList{widgets("", map[string]string{"a": "5"})}, nil, true},
		"one of the second page missing": {map[string]string{"a": "5"}, []*unstructured.UnstructuredList{widgets("more", map[string]string{"a": "5"}), widgets("", map[string]string{"b": "6"})}, nil, false},
		"both pages":                     {map[string]string{"a": "5", "b": "6"}, []*unstructured.UnstructuredList{widgets("more", map[string]string{"a": "5"}), widgets("", map[string]string{"b": "6"})}, nil, true},
		"the API server does not answer": {nil, nil, errors.New("down"), false},
		"it may not be listed":           {nil, nil, forbidden, true},
	} {
		t.Run(name, func(t *testing.T) {
			pages := test.pages
			source := &toolscache.ListWatch{ListWithContextFunc: func(_ context.Context, options metav1.ListOptions) (runtime.Object, error) {
				if options.ResourceVersion != "" {
					t.Errorf("the list may come from a cache: %+v", options)
				}
				if test.err != nil {
					return nil, test.err
				}
				page := pages[0]
				pages = pages[1:]
				return page, nil
			}}
			informers := &Informers{}
			example := &unstructured.Unstructured{}
			example.SetGroupVersionKind(widget)
			informer := informers.New(source, example, 0, toolscache.Indexers{}).(*feed)
			for _, item := range widgets("", test.shown).Items {
				require.NoError(t, informer.GetIndexer().Add(&item))
			}
			got, err := informer.caughtUp(t.Context())
			require.NoError(t, err)
			if got != test.want {
				t.Errorf("got %t, want %t", got, test.want)
			}
		})
	}
}

func TestTheAPIServerHasAnsweredOnceItSaysWhyItDoesNotListAKind(t *testing.T) {
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "widgets"}, "", errors.New("no"))
	for name, test := range map[string]struct {
		answer error // nil for none
	}{
		"it has not answered yet":       {nil},
		"it says that it cannot":        {errors.New("down")},
		"it says that nobody may do so": {forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			informers, example := &Informers{}, &unstructured.Unstructured{}
			example.SetGroupVersionKind(widget)
			informer := informers.New(&toolscache.ListWatch{}, example, 0, toolscache.Indexers{}).(*feed)
			if test.answer != nil {
				informer.answered(t.Context(), test.answer)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if err := informers.Answered(ctx, widget); (err == nil) != (test.answer != nil) {
				t.Errorf("got %v", err)
			}
			if err := informers.Seen(widget); test.answer == nil && !errors.Is(err, ErrUnlisted) {
				t.Errorf("got %v, want %v", err, ErrUnlisted)
			}
		})
	}
}
