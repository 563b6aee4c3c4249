package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/example/appservice-operator/internal/kube"
	"github.com/example/appservice-operator/internal/postrender"
)

// maxUnpacked is how many bytes a record may have when it is unpacked. What the operator writes stays below (fits); anybody who may
// write Secrets can make one of a thousand times its size.
const maxUnpacked = 8 << 20

// maxValues bounds the objects, lists and entries in a manifest: each takes many times its text when it is decoded.
const maxValues = 200_000

// unpacking is held while a record is unpacked: one at a time bounds what that takes.
var unpacking sync.Mutex

// decodeManifest returns the manifest of the release that the payload of a record holds.
func decodeManifest(payload []byte) (string, error) {
	unpacking.Lock()
	defer unpacking.Unlock()
	unpacked, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(payload)))
	if err != nil {
		return "", fmt.Errorf("it is not compressed: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(unpacked, maxUnpacked+1))
	if err != nil {
		return "", fmt.Errorf("it cannot be unpacked: %w", err)
	}
	if len(data) > maxUnpacked {
		return "", fmt.Errorf("it has more than %d KiB when it is unpacked", maxUnpacked>>10)
	}
	var release struct {
		Manifest string `json:"manifest"`
	}
	if err := json.Unmarshal(data, &release); err != nil {
		return "", fmt.Errorf("it is no release: %w", err)
	}
	values := 0
	for _, mark := range []string{"{", "[", ","} {
		values += strings.Count(release.Manifest, mark)
	}
	if values > maxValues {
		return "", fmt.Errorf("its manifest has more than %d values", maxValues)
	}
	return release.Manifest, nil
}

// rendered reports whether an object of a manifest was rendered for a resource: it has a stamp, the resource's namespace and a sign of
// ownership. A record is a Secret, which others may have written.
func rendered(owner *unstructured.Unstructured, object *unstructured.Unstructured) bool {
	if object.GetAnnotations()[postrender.AnnotationStamp] == "" || !controls(owner, object) {
		return false
	}
	if object.GetNamespace() == "" {
		return metav1.GetControllerOfNoCopy(object) == nil
	}
	return object.GetNamespace() == owner.GetNamespace() && object.GroupVersionKind().GroupKind() != kube.KeyOf(owner).GroupKind
}
