package freelist

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAValueOutlivesGarbageCollections(t *testing.T) {
	var list List[string, *int]
	value := new(int)
	list.Put("a", value)
	for range 3 {
		runtime.GC()
	}
	_, found := list.Get("b")
	assert.False(t, found, "of another kind")
	got, found := list.Get("a")
	assert.True(t, found)
	assert.Same(t, value, got)
	_, found = list.Get("a")
	assert.False(t, found, "while the only one is in use")
}

func TestAListKeepsTheLastValues(t *testing.T) {
	var list List[int, int]
	for kind := range most + 2 {
		list.Put(kind, 10*kind)
	}
	for kind := range most + 2 {
		got, found := list.Get(kind)
		assert.Equal(t, kind >= 2, found, "the value of kind %d", kind)
		if found {
			assert.Equal(t, 10*kind, got)
		}
	}
}

func TestNobodyElseUsesAValue(t *testing.T) {
	var list List[struct{}, *int]
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 1000 {
				value, found := list.Get(struct{}{})
				if !found {
					value = new(int)
				}
				*value++ // the race detector sees two users
				list.Put(struct{}{}, value)
			}
		})
	}
	group.Wait()
}
