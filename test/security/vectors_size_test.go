//go:build cluster

package security

import (
	"fmt"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube/limits"
)

const bounded = "the bounds of internal/engine/kube/limits are part of the program; raised there, the tenant has what he wants"

// Resources that fill the memory of the operator.
var _ = register(vectors{
	"hundreds of variables": ruled(
		fmt.Sprintf(`sidecars: [%s, %s]`, sidecar("a", "env", 200, `{name: "v%d"}`), sidecar("b", "env", 200, `{name: "v%d"}`)), "not have more than 256 entries together",
		func(p *corev1.PodSpec) bool { return len(p.Containers)+len(p.InitContainers) == 3 }),
	"arguments without an end": ruled(
		fmt.Sprintf(`sidecars: [%s]`, sidecar("a", "args", 1000, `"%d"`)), "256 in args",
		func(p *corev1.PodSpec) bool {
			return some(p, func(c corev1.Container) bool { return len(c.Args) == 1000 })
		}),
	"labels that each object bears": {
		does:  applies(fmt.Sprintf(`commonLabels: {%s}`, list(10, strings.Repeat("x", 150)+`.example.com/%d: "1"`))),
		harm:  is("app", func(d *appsv1.Deployment) bool { return len(d.Labels) > 10 }),
		guard: "a rule of the CRD", rule: true, words: []string{"not have more than 1024 characters together"},
	},
	"files as large as a ConfigMap": {
		does:  applies(fmt.Sprintf(`config: {files: {a: %s, b: %s}}`, strings.Repeat("x", 20<<10), strings.Repeat("y", 20<<10))),
		harm:  is("app-files", func(c *corev1.ConfigMap) bool { return len(c.Data["a"])+len(c.Data["b"]) == 40<<10 }),
		guard: "a rule of the CRD", rule: true, words: []string{"not hold more than 32 KiB together", "spec.volumes"},
	},
	"a thousand paths": {
		does: applies(fmt.Sprintf(`{ports: [{port: 80}], ingress: {hosts: [%s]}}`,
			list(32, `{host: h%d.NAMESPACE.example.com, paths: [`+list(32, `{path: /p%d}`)+`]}`))),
		harm:  is("app", anything[*networkingv1.Ingress]),
		guard: "a rule of the CRD and, behind it, the bound of claims", fixed: bounded, words: []string{"not have more than 128 paths together"},
	},
	"hundreds of references": {
		may:  writesSecrets,
		does: applies(fmt.Sprintf(`sidecars: [%s]`, sidecar("a", "env", 200, `{name: v%d, valueFrom: {secretKeyRef: {name: "s-%d", key: k, optional: true}}}`))),
		harm: pods(anySidecar), guard: "the bound of references", fixed: bounded,
		reason: v1.ReasonTooLarge, words: []string{"refer to 200", "more than 100", "spec.envFrom"},
	},
	"a spec that is large by what no rule bounds": {
		does: applies(fmt.Sprintf(`command: [%s]`, strings.Repeat("x", limits.Resource))),
		harm: is("app", anything[*appsv1.Deployment]), guard: "the bound of resources", fixed: bounded,
		reason: v1.ReasonTooLarge, words: []string{"more than 48 KiB", "ConfigMaps of your own"},
	},
	"an annotation of the AppService itself": {
		does: func(s *scene) error {
			app := s.appService(s.namespace, "app", "{}")
			app.SetAnnotations(map[string]string{"note": strings.Repeat("x", 200<<10)})
			return s.tenant.Create(s.Context(), app)
		},
		harm: is("app", anything[*appsv1.Deployment]), guard: "the bound of resources", fixed: bounded,
		reason: v1.ReasonTooLarge, words: []string{"more than 48 KiB"},
	},
})

func anySidecar(p *corev1.PodSpec) bool { return len(p.Containers)+len(p.InitContainers) > 1 }

// sidecar is one with many entries in a field.
func sidecar(name, field string, count int, entry string) string {
	return fmt.Sprintf(`{name: %s, image: x, %s: [%s]}`, name, field, list(count, entry))
}

// list is a list of entries, in which their number takes the place of %d.
func list(count int, entry string) string {
	entries := make([]string, count)
	for i := range entries {
		entries[i] = strings.ReplaceAll(entry, "%d", fmt.Sprint(i))
	}
	return strings.Join(entries, ", ")
}
