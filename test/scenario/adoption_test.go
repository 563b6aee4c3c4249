//go:build cluster

package scenario

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
)

// ofHelm are the labels and annotations of objects of a Helm release.
const ofHelm = `labels: {app.kubernetes.io/managed-by: Helm}, annotations: {meta.helm.sh/release-name: theirs, meta.helm.sh/release-namespace: NAMESPACE}`

var (
	// installed is a Helm release of two revisions, whose objects have the names of those of an AppService.
	installed = map[string]string{
		"Service":                             `{metadata: {` + ofHelm + `}, spec: {selector: {app: theirs}, ports: [{name: mine, port: 80}]}}`,
		"Deployment":                          `{metadata: {` + ofHelm + `}, spec: {selector: {matchLabels: {app: theirs}}, template: {metadata: {labels: {app: theirs}}, spec: {containers: [{name: app, image: "nginx:1"}]}}}}`,
		"ConfigMap/extra":                     `{metadata: {` + ofHelm + `}}`,
		"Secret/sh.helm.release.v1.theirs.v1": helmRecord(1, "superseded"),
		"Secret/sh.helm.release.v1.theirs.v2": helmRecord(2, "deployed"),
	}
	adopts = fmt.Sprintf(`{"metadata":{"annotations":{%q:"true",%q:"theirs",%q:"true"}}}`, v1.AnnotationAdopt, v1.AnnotationAdoptRelease, v1.AnnotationAdoptRestart)

	adoptionScenarios = []scenario{
		{name: "adoption", serves: true, deadly: true, given: []step{
			{create: installed, spec: small, ready: metav1.ConditionFalse, reason: v1.ReasonResourceExists},
		}, steps: []step{{edit: map[string]string{v1.Kind: adopts}, expect: expectation{fields: map[string]string{
			"Deployment web.metadata.ownerReferences[0].name":  "web",
			"Deployment web.spec.selector.matchLabels.app":     "theirs",
			"Service web.metadata.ownerReferences[0].name":     "web",
			"ConfigMap extra.metadata.ownerReferences[0].name": "",
			"Secret sh.helm.release.v1.theirs.v1.kind":         "",
			"Secret sh.helm.release.v1.theirs.v2.kind":         "",
		}}}}},
	}
)

// helmRecord is a release record as Helm keeps it.
func helmRecord(revision int, status string) string {
	made := map[string]any{
		"name": "theirs", "version": revision, "info": map[string]any{"status": status},
		"chart":    map[string]any{"metadata": map[string]any{"name": "theirs", "version": "1.0.0"}},
		"manifest": "---\nkind: Service\napiVersion: v1\nmetadata: {name: web}\n---\nkind: Deployment\napiVersion: apps/v1\nmetadata: {name: web}\n---\nkind: ConfigMap\napiVersion: v1\nmetadata: {name: extra}\n",
	}
	var compressed bytes.Buffer
	writer := gzip.NewWriter(&compressed)
	if err := json.NewEncoder(writer).Encode(made); err != nil {
		panic(err)
	}
	_ = writer.Close()
	text := base64.StdEncoding.EncodeToString(compressed.Bytes())
	return fmt.Sprintf(`{type: helm.sh/release.v1, metadata: {labels: {owner: helm, name: theirs, status: %s, version: "%d"}}, stringData: {release: %s}}`, status, revision, text)
}
