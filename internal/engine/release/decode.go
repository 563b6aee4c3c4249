package release

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/example/appservice-operator/internal/engine/kube"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
	"github.com/example/appservice-operator/internal/engine/postrender"
	"github.com/example/appservice-operator/internal/engine/render"
	"github.com/example/appservice-operator/internal/engine/text"
)

// maxUnpacked limits the size of an unpacked record in bytes. Records of the operator stay below it (fits); anyone who
// may write Secrets can create one that unpacks to a thousand times its size.
const maxUnpacked = 8 << 20

// maxValues limits the number of objects, lists and entries in a manifest: each takes many times its text when it is
// decoded.
const maxValues = 200_000

// unpacking is held while a record is unpacked: one at a time limits the memory that takes.
var unpacking sync.Mutex

// unpack decodes the JSON of the release that the payload of a record holds.
func unpack(payload []byte, into any) error {
	unpacked, err := gzip.NewReader(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(payload)))
	if err != nil {
		return fmt.Errorf("not compressed: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(unpacked, maxUnpacked+1))
	if err != nil {
		return fmt.Errorf("cannot be unpacked: %w", err)
	}
	if len(data) > maxUnpacked {
		return fmt.Errorf("has more than %d KiB when it is unpacked", maxUnpacked>>10)
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("not a release: %w", err)
	}
	return nil
}

// Manifest returns the manifest in a record of any Helm release, whoever wrote it: payload is the entry "release" of
// its Secret.
func Manifest(payload []byte) (string, error) {
	release, err := manifests(payload)
	return release.Manifest, err
}

// ManifestWithHooks is like Manifest, with the hooks of the release behind its other objects.
func ManifestWithHooks(payload []byte) (string, error) {
	release, err := manifests(payload)
	text := release.Manifest
	for _, hook := range release.Hooks {
		text += "\n---\n" + hook.Manifest
	}
	return text, cmp.Or(err, boundManifest(text))
}

// manifested are the objects of a release according to its record.
type manifested struct {
	Manifest string `json:"manifest"`
	Hooks    []struct {
		Manifest string `json:"manifest"`
	} `json:"hooks"`
}

func manifests(payload []byte) (manifested, error) {
	unpacking.Lock()
	defer unpacking.Unlock()
	var release manifested
	if err := unpack(payload, &release); err != nil {
		return manifested{}, err
	}
	if err := boundManifest(release.Manifest); err != nil {
		return manifested{}, err
	}
	return release, nil
}

// boundManifest refuses a manifest that would take much more memory than its text.
func boundManifest(manifest string) error {
	values := 0
	for _, mark := range []string{"{", "[", ","} {
		values += strings.Count(manifest, mark)
	}
	if values > maxValues {
		return fmt.Errorf("the manifest has more than %d values", maxValues)
	}
	return nil
}

// withStatus returns the payload of a record with another status, and everything else unchanged.
func withStatus(from []byte, status helmrelease.Status) ([]byte, error) {
	unpacking.Lock()
	defer unpacking.Unlock()
	var release, info map[string]json.RawMessage
	err := unpack(from, &release)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(release["info"], &info); err != nil || info == nil {
		return nil, errors.New("not a release: it has no info")
	}
	if info["status"], err = json.Marshal(status); err != nil {
		return nil, err
	}
	if release["info"], err = json.Marshal(info); err != nil {
		return nil, err
	}
	return payload(release)
}

// Recorded is the content of the record of a release.
type Recorded struct {
	*helmrelease.Release
	// Objects of its manifest.
	Objects []*unstructured.Unstructured
	// Source is the source of the release; nil in records of earlier operators.
	Source *Source
	// Record has all labels of the record, which the caches shorten; nil if that was not read.
	Record *livestate.Record
}

// KnowsOrder reports whether the operator that recorded a release restored the order of lists: those before noted no
// runs if there was nothing to run.
func (r *Recorded) KnowsOrder() bool { return r.Source != nil && r.Source.Runs != nil }

// Decode returns the content of a record, within limits: anyone who may write Secrets can create one. Its name has to
// be that of the release in it.
func Decode(secret *corev1.Secret) (*Recorded, error) {
	unpacking.Lock()
	defer unpacking.Unlock()
	out := &Recorded{}
	err := unpack(secret.Data[keyRelease], &out.Release)
	if err != nil {
		return nil, err
	}
	if out.Release == nil || out.Info == nil {
		return nil, errors.New("not a release: it has no info")
	}
	if named := livestate.RecordName(out.Name, out.Version); named != secret.Name {
		return nil, fmt.Errorf("has the content of %s", text.Cut(named, 100))
	}
	if err := boundManifest(out.Manifest); err != nil {
		return nil, err
	}
	if out.Objects, err = render.ReadManifest(out.Manifest); err != nil {
		return nil, err
	}
	if source, found := secret.Data[keySource]; found {
		if err := utiljson.Unmarshal(source, &out.Source); err != nil {
			return nil, fmt.Errorf("the source of the release cannot be read: %w", err)
		}
	}
	return out, nil
}

// rendered reports whether an object of a manifest was rendered for a resource: it has a stamp, the resource's
// namespace and a mark of ownership. A record is a Secret, which others may have written.
func rendered(owner *unstructured.Unstructured, object *unstructured.Unstructured) bool {
	if object.GetAnnotations()[postrender.AnnotationStamp] == "" ||
		!controls(owner, object) && kube.RetainedFor(object) != owner.GetName() { // as earlier operators marked claims
		return false
	}
	if object.GetNamespace() == "" {
		return metav1.GetControllerOfNoCopy(object) == nil
	}
	return object.GetNamespace() == owner.GetNamespace() &&
		object.GroupVersionKind().GroupKind() != kube.KeyOf(owner).GroupKind
}
