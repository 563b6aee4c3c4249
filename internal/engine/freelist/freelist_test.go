package freelist

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAValueOutlivesGarbageCollections(t *testing.T) {
	made := 0
	list := New(func() *int { made++; return &made })
	list.Put(list.Get())
	for range 3 {
		runtime.GC()
	}
	list.Get()
	assert.Equal(t, 1, made, "values made")
	list.Get()
	assert.Equal(t, 2, made, "values made while the first is in use")
}

func TestAListKeepsFewValues(t *testing.T) {
	list := New(func() int { return 0 })
	for n := range 2 * most {
		list.Put(n + 1)
	}
	kept := 0
	for range 2 * most {
		if list.Get() != 0 {
			kept++
		}
	}
	assert.Equal(t, min(most, runtime.GOMAXPROCS(0)), kept)
}
