package operator

import (
	"context"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// startedCache is a cache that need not be waited for as a whole. The manager would wait until it has listed every
// kind: a kind that the operator may not list would block all others, and also the end of the process, because the
// manager does not handle signals then. Controllers wait kind by kind for what they need.
type startedCache struct{ cache.Cache }

func newCache(config *rest.Config, options cache.Options) (cache.Cache, error) {
	made, err := cache.New(config, options)
	return startedCache{made}, err
}

// WaitForCacheSync implements cache.Informers.
func (startedCache) WaitForCacheSync(context.Context) bool { return true }
