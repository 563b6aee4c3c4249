// Package large makes AppServices as large as they may be, and larger, each in another way.
package large

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

// Shape makes an AppService large in one way, by so many items.
type Shape func(app *v1.AppService, items int)

// Shapes are the ways in which specs grow large.
var Shapes = map[string]Shape{
	"files": func(app *v1.AppService, items int) {
		app.Spec.Config = &v1.Config{Files: map[string]v1.ConfigValue{"noise": v1.ConfigValue(noise(items))}}
	},
	"variables": func(app *v1.AppService, items int) {
		eachSidecar(app, items, func(sidecar *corev1.Container, i int) {
			sidecar.Env = append(sidecar.Env, corev1.EnvVar{Name: fmt.Sprint("V", i), Value: "x"})
		})
	},
	"references": func(app *v1.AppService, items int) {
		eachSidecar(app, items, func(sidecar *corev1.Container, i int) {
			sidecar.Env = append(sidecar.Env, corev1.EnvVar{Name: fmt.Sprint("V", i), ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: fmt.Sprint("s-", i)}, Key: "k", Optional: ptr.To(true),
			}}})
		})
	},
	"arguments": func(app *v1.AppService, items int) {
		eachSidecar(app, items, func(sidecar *corev1.Container, _ int) { sidecar.Args = append(sidecar.Args, "") })
	},
	"terms": func(app *v1.AppService, items int) {
		app.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
			NodeSelectorTerms: make([]corev1.NodeSelectorTerm, items),
		}}}
	},
	"labels": func(app *v1.AppService, items int) {
		app.Spec.CommonLabels = map[string]v1.Label{}
		for i := range items {
			app.Spec.CommonLabels[fmt.Sprintf("%s/l%d", strings.Repeat("x", 200), i)] = v1.Label(strings.Repeat("v", 63))
		}
	},
	"annotations": func(app *v1.AppService, items int) {
		app.Spec.PodAnnotations = map[string]v1.Annotation{}
		for i := range items {
			app.Spec.PodAnnotations[fmt.Sprint("a", i)] = v1.Annotation(strings.Repeat("v", 16))
		}
	},
}

// eachSidecar spreads items over 8 sidecars.
func eachSidecar(app *v1.AppService, items int, add func(sidecar *corev1.Container, i int)) {
	const sidecars = 8
	for i := range sidecars {
		app.Spec.Sidecars = append(app.Spec.Sidecars, corev1.Container{Name: fmt.Sprint("s", i), Image: "x"})
	}
	for i := range items {
		add(&app.Spec.Sidecars[i%sidecars], i)
	}
}

// Fill makes an AppService as large as it may be, by a command that does not compress.
func Fill(app *v1.AppService) {
	if room := limits.Resource - SizeOf(app) - 2<<10; room > 0 { // the rest is for what the API server adds
		app.Spec.Command = []string{noise(room)}
	}
}

// noise is a text that does not compress, and takes as many bytes in JSON as it has.
func noise(length int) string {
	source := rand.New(rand.NewPCG(1, 2))
	text := make([]byte, length)
	for i := range text {
		text[i] = byte('A' + source.IntN('Z'-'A'+1))
		if source.IntN(2) == 0 {
			text[i] += 'a' - 'A'
		}
	}
	return string(text)
}

// SizeOf returns how many bytes an AppService has as JSON.
func SizeOf(app *v1.AppService) int {
	text, _ := json.Marshal(app)
	return len(text)
}
