// Package generate makes the values of Secrets that a chart leaves to the operator: passwords and keys, each made once.
// An annotation of the rendered Secret lists the keys, annotations of the live one those that were filled. Nothing here
// reads the cluster; the random source is given.
package generate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// Encoding says how random bytes become a value.
type Encoding string

// The encodings. Alphanumeric is one of 62 letters and digits for each byte.
const (
	Hex          Encoding = "hex"
	Base64       Encoding = "base64"
	Alphanumeric Encoding = "alphanumeric"
)

// TLSCert is the key of a certificate of Services.
const TLSCert = "tls.crt"

// certificates are the keys that an entry of the annotation once asked for: an authority, and a pair that it signed.
var certificates = map[string][]string{"ca": {"ca.crt", "ca.key"}, "tls": {TLSCert, "tls.key"}}

// The limits of what an annotation may request. Caches keep no longer annotation of a Secret than mostNames.
const (
	leastBytes = 16
	mostBytes  = 1024
	mostNames  = 1000
)

// Value is the content of a key: Bytes random bytes in an encoding.
type Value struct {
	Encoding Encoding
	Bytes    int
}

// Request has the values that the operator must fill a Secret with. The zero value stands for nothing.
type Request struct {
	// Values by key.
	Values map[string]Value
	// Certificates are the keys of certificates. They are only kept, where they were made once.
	Certificates []string
}

// Of returns the values that the annotations of a rendered Secret request; the zero value for any other object, and
// if they cannot be read, which keeps a Secret from being rendered.
func Of(object client.Object) Request {
	annotation, asked := object.GetAnnotations()[v1.AnnotationGenerate]
	if !asked || object.GetObjectKind().GroupVersionKind() != kube.SecretKind {
		return Request{}
	}
	wanted, err := Parse(annotation)
	if err != nil {
		return Request{}
	}
	return wanted
}

// None reports whether nothing is wanted.
func (w Request) None() bool { return len(w.Values)+len(w.Certificates) == 0 }

// Keys returns the keys of the Secret that are wanted, sorted.
func (w Request) Keys() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Clone(w.Certificates), maps.Keys(w.Values))))
}

// Refused returns an error if certificates are wanted that are not among the keys that a Secret has.
func (w Request) Refused(has []string) error {
	for _, key := range w.Certificates {
		if !slices.Contains(has, key) {
			return fmt.Errorf("%s is a certificate, and none are made: use cert-manager or an existing Secret", key)
		}
	}
	return nil
}

// Parse reads an annotation such as "password=24,key=hex:32". The error names the entry and what to write.
func Parse(annotation string) (Request, error) {
	wanted := Request{Values: map[string]Value{}}
	for entry := range strings.SplitSeq(annotation, ",") {
		if err := wanted.add(strings.TrimSpace(entry)); err != nil {
			return Request{}, err
		}
	}
	keys := wanted.Keys()
	for i, key := range keys {
		if i > 0 && keys[i-1] == key {
			return Request{}, fmt.Errorf("%s is there twice: leave one out", key)
		}
	}
	if len(strings.Join(keys, ",")) > mostNames {
		return Request{}, fmt.Errorf("the keys have more than %d characters together: use another Secret for some of them",
			mostNames)
	}
	return wanted, nil
}

// add adds an entry of the annotation.
func (w *Request) add(entry string) error {
	key, of, isValue := strings.Cut(entry, "=")
	if isValue {
		return w.addValue(key, of)
	}
	kind, _, _ := strings.Cut(entry, ":") // a lifetime follows
	keys, known := certificates[kind]
	if !known {
		return fmt.Errorf("%q is no entry: write KEY=24, KEY=hex:32 or KEY=base64:32", entry)
	}
	w.Certificates = append(w.Certificates, keys...)
	return nil
}

// keyName matches the keys of Secrets.
var keyName = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)

// addValue adds a key with a random value.
func (w *Request) addValue(key, of string) error {
	if !keyName.MatchString(key) {
		return fmt.Errorf("%q cannot be the key of a Secret: take letters, digits, '-', '_' and '.'", key)
	}
	if _, twice := w.Values[key]; twice {
		return fmt.Errorf("%s is there twice: leave one out", key)
	}
	encoding, size, encoded := strings.Cut(of, ":")
	if !encoded {
		encoding, size = string(Alphanumeric), of
	}
	if !slices.Contains([]Encoding{Hex, Base64, Alphanumeric}, Encoding(encoding)) {
		return fmt.Errorf("%s has no encoding %q: write hex, base64 or alphanumeric", key, encoding)
	}
	bytes, err := strconv.Atoi(size)
	if err != nil || bytes < leastBytes || bytes > mostBytes {
		return fmt.Errorf("%s cannot have %q random bytes: write a number from %d to %d", key, size, leastBytes, mostBytes)
	}
	w.Values[key] = Value{Encoding(encoding), bytes}
	return nil
}
