package harness

import (
	"fmt"

	toolscache "k8s.io/client-go/tools/cache"
)

// eachOf calls look with each object that an informer shows, and with each new version of it.
func eachOf[T any](informer toolscache.SharedIndexInformer, look func(T)) error {
	see := func(object any) {
		if one, ok := object.(T); ok {
			look(one)
		}
	}
	_, err := informer.AddEventHandler(toolscache.ResourceEventHandlerFuncs{AddFunc: see, UpdateFunc: func(_, after any) { see(after) }})
	if err != nil {
		return fmt.Errorf("cannot watch what test clusters serve: %w", err)
	}
	return nil
}
