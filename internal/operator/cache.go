package operator

import (
	"context"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/cache"
)

// startedCache is a cache that need not be waited for as a whole. The manager would wait until it has listed every kind: one
// that the operator may not list would hold up all others, and the end of the process as well, because the manager does not
// look for a signal then. What has to be seen before something is done, controllers wait for kind by kind.
type startedCache struct{ cache.Cache }

func newCache(config *rest.Config, options cache.Options) (cache.Cache, error) {
	made, err := cache.New(config, options)
	return startedCache{made}, err
}

// WaitForCacheSync implements cache.Informers.
func (startedCache) WaitForCacheSync(context.Context) bool { return true }
