package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/freelist"
	"github.com/example/appservice-operator/internal/engine/kube/livestate"
)

// The entries of the Secret of a record. Helm reads the first.
const (
	keyRelease = "release"
	// keySource is the resource from which the release was made.
	keySource = "resource"
)

// Source is the resource from which a release was made: the spec as its user wrote it, for a rollback, and who wrote
// it. Values are no substitute: they contain defaults of the namespace and of the platform.
type Source struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Generation int64  `json:"generation"`
	// ChangedBy is the field manager that changed the spec last, and ChangedAt the time of that change.
	ChangedBy string    `json:"changedBy,omitempty"`
	ChangedAt time.Time `json:"changedAt,omitzero"`
	Spec      any       `json:"spec"`
	// Runs are the noted runs of Jobs; nil in records of operators that noted none.
	Runs []v1.RunStatus `json:"runs,omitzero"`
	// Returned says what failed before the release was applied again; nil if nothing did.
	Returned *Returned `json:"returned,omitempty"`
}

// Returned describes the return from a release that failed to one that was Ready, by revision.
type Returned struct {
	From int `json:"from"`
	To   int `json:"to"`
	// Reason and Message of the failure, as in the status.
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// settings are fields of a spec that change no object, or only a number of replicas.
var settings = []string{"size", "paused", "onFailure", "ttl"}

// Differs reports whether a spec is another one, apart from settings.
func (s *Source) Differs(spec any) bool {
	bare := func(spec any) map[string]any {
		fields, _ := spec.(map[string]any)
		fields = maps.Clone(fields)
		maps.DeleteFunc(fields, func(field string, _ any) bool { return slices.Contains(settings, field) })
		return fields
	}
	return !equality.Semantic.DeepEqual(bare(s.Spec), bare(spec))
}

// Again returns what a release is made of that is applied again: the same, whatever its resource says by now.
func (s *Source) Again(returned *Returned) *Source {
	if s == nil { // of an earlier operator, which did not record it
		return nil
	}
	again := *s
	again.Returned = returned
	return &again
}

// compressors are reused: each takes 800 KB, which Helm's own store allocates for every record that it writes.
var compressors freelist.List[struct{}, *gzip.Writer]

// encode returns the Secret for the record of a deployed release, as the driver for Secrets of
// helm.sh/helm/v3/pkg/storage does: base64 of compressed JSON, with labels to find it by.
func encode(record *helmrelease.Release, source Source) (*corev1.Secret, error) {
	labels := maps.Clone(record.Labels)
	maps.Copy(labels, map[string]string{
		"name":      record.Name,
		"owner":     "helm",
		"status":    record.Info.Status.String(),
		"version":   strconv.Itoa(record.Version),
		"createdAt": strconv.FormatInt(record.Info.LastDeployed.Unix(), 10),
	})
	release, err := payload(record)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(source)
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{keyRelease: release, keySource: spec}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Type: livestate.RecordType, Data: data}, nil
}

// payload returns the compressed JSON of a release, in base64.
func payload(release any) ([]byte, error) {
	data, err := json.Marshal(release)
	if err != nil {
		return nil, err
	}
	var zipped bytes.Buffer
	if err := compress(&zipped, data); err != nil {
		return nil, err
	}
	return base64.StdEncoding.AppendEncode(nil, zipped.Bytes()), nil
}

// compress writes the concatenation of the parts, compressed.
func compress(to io.Writer, parts ...[]byte) error {
	compressor, found := compressors.Get(struct{}{})
	if !found {
		compressor = gzip.NewWriter(nil)
	}
	defer func() {
		compressor.Reset(nil) // it would keep what it was written to
		compressors.Put(struct{}{}, compressor)
	}()
	compressor.Reset(to)
	for _, part := range parts {
		if _, err := compressor.Write(part); err != nil {
			return err
		}
	}
	return compressor.Close()
}
