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
	// keySuperseded is what the first becomes when another release is recorded: so that takes one request, which reads nothing.
	keySuperseded = "superseded"
	// keySource is the resource that the release was made of.
	keySource = "resource"
)

// Source is what a release was made of: the spec as its user wrote it, which one goes back to, and who that was. Values are no substitute:
// defaults of the namespace and of the platform are in them.
type Source struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Generation int64  `json:"generation"`
	// ChangedBy is the field manager that had changed the spec last, and ChangedAt when it did.
	ChangedBy string    `json:"changedBy,omitempty"`
	ChangedAt time.Time `json:"changedAt,omitzero"`
	Spec      any       `json:"spec"`
}

// compressors are used again: each takes 800 KB, which Helm's own store allocates for every record that it writes.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// encode makes the Secret that holds a release that is deployed, as the driver for Secrets of helm.sh/helm/v3/pkg/storage does: base64 of
// compressed JSON, and labels to find it by. One that will be kept after the next release has also what it is to hold then, if there is
// room for both.
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

// payloads returns a release as its record holds it, and as it does once another one is recorded. What both have is compressed once:
// compressed texts that follow each other are one.
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

// compress writes what the parts are together, compressed.
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
