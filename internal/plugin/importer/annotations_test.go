package importer

import (
	"fmt"
	"testing"
)

// How kompose was called, and its version, were for whoever called it; an operator with a strict policy would refuse them.
func TestAnnotationsOfKomposeAreDropped(t *testing.T) {
	t.Parallel()
	const manifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, annotations: %[1]s}
spec:
  selector: {matchLabels: {io.kompose.service: web}}
  template:
    metadata: {labels: {io.kompose.service: web}, annotations: %[1]s}
    spec:
      containers: [{name: web, image: "example.com/web:1", ports: [{containerPort: 8080}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, annotations: %[1]s}
spec:
  selector: {io.kompose.service: web}
  ports: [{port: 8080}]
`
	var texts []string
	for _, annotations := range []string{
		`{example.com/owner: shop}`,
		`{example.com/owner: shop, kompose.cmd: kompose convert -f compose.yaml, kompose.version: 1.36.0 (ae2a39403)}`,
	} {
		texts = append(texts, printed(t, imported(t, fmt.Appendf(nil, manifest, annotations))))
	}
	if texts[0] != texts[1] {
		t.Errorf("it is not as without the annotations\n%s", firstDifference(texts[1], texts[0]))
	}
}
