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

	helmrelease "helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/example/appservice-operator/internal/cluster"
)

// compressors are used again: each takes 800 KB, which Helm's own store allocates for every record that it writes.
var compressors = sync.Pool{New: func() any { return gzip.NewWriter(nil) }}

// encode makes the Secret that holds a release, as the driver for Secrets of helm.sh/helm/v3/pkg/storage does: base64 of compressed
// JSON, and labels to find it by.
func encode(record *helmrelease.Release) (*corev1.Secret, error) {
	data, err := json.Marshal(record)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := compress(&text, data); err != nil {
		return nil, err
	}
	labels := maps.Clone(record.Labels)
	maps.Copy(labels, map[string]string{
		"name":      record.Name,
		"owner":     "helm",
		"status":    record.Info.Status.String(),
		"version":   strconv.Itoa(record.Version),
		"createdAt": strconv.FormatInt(record.Info.LastDeployed.Unix(), 10),
	})
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Type:       cluster.RecordType,
		Data:       map[string][]byte{"release": text.Bytes()},
	}, nil
}

// compress writes base64 of what the parts are together, compressed.
func compress(to io.Writer, parts ...[]byte) error {
	letters := base64.NewEncoder(base64.StdEncoding, to)
	compressor := compressors.Get().(*gzip.Writer)
	defer compressors.Put(compressor)
	compressor.Reset(letters)
	for _, part := range parts {
		if _, err := compressor.Write(part); err != nil {
			return err
		}
	}
	if err := compressor.Close(); err != nil {
		return err
	}
	return letters.Close()
}
