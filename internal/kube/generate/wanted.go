// Package generate makes the values of Secrets that a chart leaves to the operator: passwords, keys and certificates,
// each made once. An annotation of the rendered Secret lists the keys, annotations of the live one those that were
// filled. Nothing here reads the cluster; clock and random source are given.
package generate

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/digest"
	"github.com/example/appservice-operator/internal/kube"
)

// Encoding says how random bytes become a value.
type Encoding string

// The encodings. Alphanumeric is one of 62 letters and digits for each byte.
const (
	Hex          Encoding = "hex"
	Base64       Encoding = "base64"
	Alphanumeric Encoding = "alphanumeric"
)

// The keys of certificates, in PEM.
const (
	CACert  = "ca.crt"
	CAKey   = "ca.key"
	TLSCert = "tls.crt"
	TLSKey  = "tls.key"
)

// The lifetimes of certificates for which the annotation names none, and the shortest that it may name.
const (
	caLifetime       = 3650 * 24 * time.Hour
	tlsLifetime      = 365 * 24 * time.Hour
	shortestLifetime = time.Hour
)

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

// Wanted are the values that the operator must fill a Secret with. The zero value stands for nothing.
type Wanted struct {
	// Values by key.
	Values map[string]Value
	// CA and TLS are the lifetimes of the authority and of the pair that it signs; 0 if they are not wanted.
	CA, TLS time.Duration
	// For are the DNS names of that pair, separated by commas.
	For string
}

// Of returns the values that the annotations of a rendered Secret request; the zero value for any other object, and
// if they cannot be read, which keeps a Secret from being rendered.
func Of(object client.Object) Wanted {
	annotation, asked := object.GetAnnotations()[v1.AnnotationGenerate]
	if !asked || object.GetObjectKind().GroupVersionKind() != kube.SecretKind {
		return Wanted{}
	}
	wanted, err := Parse(annotation)
	if err != nil {
		return Wanted{}
	}
	if wanted.TLS > 0 {
		wanted.For = object.GetAnnotations()[v1.AnnotationGenerateFor]
	}
	return wanted
}

// nameDigest identifies the DNS names, however many these are; empty for none.
func (w Wanted) nameDigest() string {
	if w.For == "" {
		return ""
	}
	return digest.Of([]byte(w.For))[:32]
}

// None reports whether nothing is wanted.
func (w Wanted) None() bool { return len(w.Values) == 0 && w.CA == 0 }

// Keys returns the keys of the Secret that are wanted, sorted.
func (w Wanted) Keys() []string {
	keys := slices.Collect(maps.Keys(w.Values))
	if w.CA > 0 {
		keys = append(keys, CACert, CAKey)
	}
	if w.TLS > 0 {
		keys = append(keys, TLSCert, TLSKey)
	}
	slices.Sort(keys)
	return keys
}

// Parse reads an annotation such as "password=24,key=hex:32,ca,tls:90d". The error names the entry and what to write.
func Parse(annotation string) (Wanted, error) {
	wanted := Wanted{Values: map[string]Value{}}
	for entry := range strings.SplitSeq(annotation, ",") {
		if err := wanted.add(strings.TrimSpace(entry)); err != nil {
			return Wanted{}, err
		}
	}
	if wanted.TLS > 0 && wanted.CA == 0 {
		return Wanted{}, fmt.Errorf("tls needs ca, which signs it: write ca,tls")
	}
	keys := wanted.Keys()
	for i, key := range keys {
		if i > 0 && keys[i-1] == key {
			return Wanted{}, fmt.Errorf("%s is there twice: leave one out", key)
		}
	}
	if len(strings.Join(keys, ",")) > mostNames {
		return Wanted{}, fmt.Errorf("the keys have more than %d characters together: use another Secret for some of them",
			mostNames)
	}
	return wanted, nil
}

// add adds an entry of the annotation.
func (w *Wanted) add(entry string) (err error) {
	key, of, isValue := strings.Cut(entry, "=")
	if isValue {
		return w.addValue(key, of)
	}
	kind, lifetime, _ := strings.Cut(entry, ":")
	switch {
	case kind == "ca" && w.CA == 0:
		w.CA, err = lifetimeOf(entry, lifetime, caLifetime)
	case kind == "tls" && w.TLS == 0:
		w.TLS, err = lifetimeOf(entry, lifetime, tlsLifetime)
	case kind == "ca", kind == "tls":
		err = fmt.Errorf("%s is there twice: leave one out", kind)
	default:
		err = fmt.Errorf("%q is no entry: write KEY=24, KEY=hex:32, KEY=base64:32, ca or tls", entry)
	}
	return err
}

// keyName matches the keys of Secrets.
var keyName = regexp.MustCompile(`^[-._a-zA-Z0-9]{1,253}$`)

// addValue adds a key with a random value.
func (w *Wanted) addValue(key, of string) error {
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

// lifetimeOf reads how long certificates are valid: days as in 90d, or what Go calls a duration.
func lifetimeOf(entry, text string, usual time.Duration) (time.Duration, error) {
	if text == "" && !strings.Contains(entry, ":") {
		return usual, nil
	}
	lifetime, err := time.ParseDuration(text)
	if number, inDays := strings.CutSuffix(text, "d"); inDays {
		var days uint64
		days, err = strconv.ParseUint(number, 10, 16)
		lifetime = time.Duration(days) * 24 * time.Hour
	}
	if err != nil || lifetime < shortestLifetime || lifetime > 10*caLifetime {
		return 0, fmt.Errorf("%q has no lifetime: write days as in %s:90d, or hours as in %[2]s:12h, of an hour at least", entry,
			strings.SplitN(entry, ":", 2)[0])
	}
	return lifetime, nil
}
