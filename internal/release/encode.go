package release

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"io"
	"maps"
	"strconv"
	"sync"
	"time"

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example/appservice-operator/internal/cluster"
)

// The entries of the Secret of a record. Helm reads the first.
const (
	keyRelease = "release"
	// keySuperseded is the first entry's content once another release is recorded: superseding takes one request, without a read.
	keySuperseded = "superseded"
	// keySource is the resource from which the release was made.
	keySource = "resource"
)

// Source is the resource from which a release was made: the spec as its user wrote it, for a rollback, and who wrote it. Values are no
// substitute: they contain defaults of the namespace and of the platform.
type Source struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Generation int64  `json:"generation"`
	// ChangedBy is the field manager that changed the spec last, and ChangedAt the time of that change.
	ChangedBy string    `json:"changedBy,omitempty"`
	ChangedAt time.Time `json:"changedAt,omitzero"`
	Spec      any       `json:"spec"`
}

// compressors are reused: each takes 800 KB, which Helm's own store allocates for every record that it writes.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// encode returns the Secret for the record of a deployed release, as the driver for Secrets of helm.sh/helm/v3/pkg/storage does: base64 of
// compressed JSON, with labels to find it by. A record that will be kept after the next release also contains its later content, if there
// is room for both.
func encode(record *helmrelease.Release, source Source, kept bool) (*corev1.Secret, error) {
	labels := maps.Clone(record.Labels)
	maps.Copy(labels, map[string]string{
		"name":      record.Name,
		"owner":     "helm",
		"status":    record.Info.Status.String(),
		"version":   strconv.Itoa(record.Version),
		"createdAt": strconv.FormatInt(record.Info.LastDeployed.Unix(), 10),
	})
	deployed, superseded, err := payloads(record)
	if err != nil {
		return nil, err
	}
	spec, err := json.Marshal(source)
	if err != nil {
		return nil, err
	}
	data := map[string][]byte{keyRelease: deployed, keySource: spec}
	if kept && len(deployed)+len(superseded)+len(spec) <= maxRecord {
		data[keySuperseded] = superseded
	}
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Type: cluster.RecordType, Data: data}, nil
}

// payloads returns the content of a release's record, now and after another one is recorded. The part in common is compressed once:
// a concatenation of compressed texts is a compressed text.
func payloads(record *helmrelease.Release) (deployed, superseded []byte, err error) {
	most := *record
	most.Info = nil
	head, err := json.Marshal(&most)
	if err != nil {
		return nil, nil, err
	}
	var zipped bytes.Buffer
	if err := compress(&zipped, head[:len(head)-1]); err != nil {
		return nil, nil, err
	}
	with := func(status helmrelease.Status) ([]byte, error) {
		info := *record.Info
		info.Status = status
		tail, err := json.Marshal(&info)
		if err != nil {
			return nil, err
		}
		whole := bytes.NewBuffer(bytes.Clone(zipped.Bytes()))
		if err := compress(whole, []byte(`,"info":`), tail, []byte("}")); err != nil {
			return nil, err
		}
		return inLetters(whole.Bytes()), nil
	}
	if deployed, err = with(record.Info.Status); err != nil {
		return nil, nil, err
	}
	superseded, err = with(helmrelease.StatusSuperseded)
	return deployed, superseded, err
}

func inLetters(zipped []byte) []byte {
	text := make([]byte, base64.StdEncoding.EncodedLen(len(zipped)))
	base64.StdEncoding.Encode(text, zipped)
	return text
}

// compress writes the concatenation of the parts, compressed.
func compress(to io.Writer, parts ...[]byte) error {
	compressor := compressors.Get().(*gzip.Writer)
	defer compressors.Put(compressor)
	compressor.Reset(to)
	for _, part := range parts {
		if _, err := compressor.Write(part); err != nil {
			return err
		}
	}
	return compressor.Close()
}
