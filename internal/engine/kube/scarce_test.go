package kube

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// Everybody may make objects that name a resource as their controller, each as large as the caches keep objects whole, as many as he likes.
func TestManyObjectsThatClaimAnOwnerFit(t *testing.T) {
	const objects, each = 5000, bound - 4<<10 // 140 MB
	before := live()
	limitMemory(t, 2*(before+16<<20))
	kept, outlines := make([]client.Object, objects), 0
	for i := range kept {
		kept[i] = controlled(t, &corev1.ConfigMap{Data: map[string]string{"key": text(i, each)}}, i)
		if IsOutline(kept[i]) {
			outlines++
		}
	}
	grown := live() - before
	t.Logf("%d objects of %d KiB take %d MB, %d of them as outlines", objects, each>>10, grown>>20, outlines)
	if most := 64 << 20; grown > most || outlines == 0 || outlines == objects {
		t.Errorf("%d of %d objects are outlines, and they take %d MB together; want some, and %d MB at the most", outlines, objects, grown>>20, most>>20)
	}
	runtime.KeepAlive(kept)
}

func TestWhatTheCachesKeepWhileMemoryIsShort(t *testing.T) {
	ballast := []byte(text(0, 64<<20))
	runtime.GC()
	cases := map[string]struct {
		object client.Object
		short  bool // whether memory is short
		want   bool // whether all of it is kept
	}{
		"an object, while there is room":              {&corev1.ConfigMap{Data: map[string]string{"key": text(1, bound/2)}}, false, true},
		"an object, while memory is short":            {&corev1.ConfigMap{Data: map[string]string{"key": text(1, bound/2)}}, true, false},
		"a small object, while memory is short":       {&corev1.ConfigMap{Data: map[string]string{"key": text(1, scarceBound/2)}}, true, true},
		"a route, while memory is short":              {&networkingv1.Ingress{Spec: networkingv1.IngressSpec{IngressClassName: ptr.To(text(1, bound/2))}}, true, true},
		"a claim, while memory is short":              {&corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: text(1, bound/2)}}, true, true},
		"a large route, while there is room":          {&networkingv1.Ingress{Spec: networkingv1.IngressSpec{IngressClassName: ptr.To(text(1, 2*bound))}}, false, false},
		"a claim with long text, while there is room": {&corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeName: text(1, 2*bound)}}, false, false},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			if test.short {
				limitMemory(t, len(ballast))
			}
			if got := !IsOutline(controlled(t, test.object, 1)); got != test.want {
				t.Errorf("it is kept whole: %t, want %t", got, test.want)
			}
		})
	}
	runtime.KeepAlive(ballast)
}

// controlled is what the caches keep of an object whose controller is an AppService.
func controlled(t *testing.T, object client.Object, number int) client.Object {
	t.Helper()
	object.SetNamespace("demo")
	object.SetName(fmt.Sprint("object-", number))
	object.SetOwnerReferences([]metav1.OwnerReference{{
		APIVersion: appServices.GroupVersion().String(), Kind: v1.Kind, Name: "paused", UID: types.UID(fmt.Sprint(number)), Controller: ptr.To(true),
	}})
	out, err := Transform(map[schema.GroupVersionKind]limits.Bound{appServices: 0})(object)
	require.NoError(t, err)
	return out.(client.Object)
}

// limitMemory has the collector aim at so many bytes while a test runs.
func limitMemory(t *testing.T, bytes int) {
	t.Helper()
	before := debug.SetMemoryLimit(int64(bytes))
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
}

// live is how many bytes are in use.
func live() int {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// text is one of a length, which shares its memory with no other.
func text(number, length int) string { return strings.Repeat(string(rune('a'+number%26)), length) }
