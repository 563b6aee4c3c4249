package render

import (
	"testing"

	"helm.sh/helm/v3/pkg/chartutil"
)

// benched is an AppService with a port and an Ingress, which becomes three objects.
const benched = `{size: 1, image: "nginx:1.27", ports: [{port: 80, targetPort: 8080}], ingress: {hosts: [{host: web.example.com}]}}`

func BenchmarkRender(b *testing.B) {
	renderer, resource := shipped(b), appService(b, benched)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := renderer.Render(b.Context(), resource, chartutil.DefaultCapabilities); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkUnpack(b *testing.B) {
	packed, err := rendered(b, shipped(b), appService(b, benched)).Pack()
	if err != nil {
		b.Fatal(err)
	}
	size := len(packed.values)
	for _, body := range packed.bodies {
		size += len(body.data)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := packed.Unpack(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(size), "packed-B")
}

// BenchmarkManifest prints the manifest of a release.
func BenchmarkManifest(b *testing.B) {
	result := rendered(b, shipped(b), appService(b, benched))
	b.ReportAllocs()
	for b.Loop() {
		if result.Manifest() == "" {
			b.Fatal("it is empty")
		}
	}
}

// BenchmarkBody stamps and encodes what hooks made.
func BenchmarkBody(b *testing.B) {
	result := rendered(b, shipped(b), appService(b, benched))
	b.ReportAllocs()
	for b.Loop() {
		for _, object := range result.Objects {
			if _, err := stamp(object); err != nil {
				b.Fatal(err)
			}
		}
	}
}
