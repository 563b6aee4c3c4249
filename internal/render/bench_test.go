package render

import (
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
)

// BenchmarkRender renders three objects from an AppService with a port and an Ingress.
func BenchmarkRender(b *testing.B) {
	renderer := shipped(b)
	resource := appService(b, `{size: 1, image: "nginx:1.27", ports: [{port: 80, targetPort: 8080}], ingress: {hosts: [{host: web.example.com}]}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := renderer.Render(b.Context(), resource, chartutil.DefaultCapabilities); err != nil {
			b.Fatal(err)
		}
	}
}
