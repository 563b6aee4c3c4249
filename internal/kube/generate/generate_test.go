package generate

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/kube"
)

// start is when the clocks of the tests start.
var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// world is a Secret, and what fills it.
type world struct {
	t      *testing.T
	now    time.Time
	wanted Wanted
	data   map[string][]byte
	note   Note
}

func newWorld(t *testing.T, annotation string) *world {
	t.Helper()
	wanted, err := Parse(annotation)
	require.NoError(t, err)
	if wanted.TLS > 0 {
		wanted.For = "web,web.demo,web.demo.svc"
	}
	return &world{t: t, now: start, wanted: wanted}
}

// fill fills the Secret, and returns the keys that changed.
func (w *world) fill() (changed []string) {
	w.t.Helper()
	maker := Maker{Random: rand.Reader, Now: func() time.Time { return w.now }}
	filled, err := maker.Fill(w.wanted, w.data, w.note, "1")
	require.NoError(w.t, err)
	for _, key := range slices.Sorted(maps.Keys(filled.Data)) {
		if !bytes.Equal(filled.Data[key], w.data[key]) {
			changed = append(changed, key)
		}
	}
	w.data, w.note = filled.Data, noteIn(filled.Annotations)
	content := map[string]any{}
	for key := range w.data {
		content[key] = ""
	}
	assert.Empty(w.t, w.wanted.Lacks(w.note, content), "of a Secret that was just filled")
	assert.False(w.t, w.note.Due(w.now), "a renewal is due right after it was filled")
	return changed
}

func noteIn(annotations map[string]string) Note {
	secret := kube.Metadata(kube.SecretKind)
	secret.Annotations = annotations
	return NoteOf(secret)
}

func TestParse(t *testing.T) {
	cases := map[string]struct {
		annotation string
		keys       []string
		refused    string
	}{
		"letters and digits":      {annotation: "password=24", keys: []string{"password"}},
		"all encodings":           {annotation: "a=hex:32, b=base64:16,c=alphanumeric:1024", keys: []string{"a", "b", "c"}},
		"an authority":            {annotation: "ca", keys: []string{"ca.crt", "ca.key"}},
		"a pair":                  {annotation: "ca:3650d,tls:12h", keys: []string{"ca.crt", "ca.key", "tls.crt", "tls.key"}},
		"keys named as the pairs": {annotation: "ca=16,tls=16", keys: []string{"ca", "tls"}},
		"nothing":                 {annotation: "", refused: `"" is no entry: write KEY=24`},
		"no size":                 {annotation: "password", refused: `"password" is no entry`},
		"too short":               {annotation: "password=8", refused: `password cannot have "8" random bytes: write a number from 16 to 1024`},
		"too long":                {annotation: "password=hex:1025", refused: `cannot have "1025"`},
		"no number":               {annotation: "password=hex:", refused: `cannot have ""`},
		"no encoding":             {annotation: "password=rot13:24", refused: `no encoding "rot13": write hex, base64 or alphanumeric`},
		"no key":                  {annotation: "pass word=24", refused: `"pass word" cannot be the key`},
		"a key twice":             {annotation: "a=24,a=24", refused: "a is there twice: leave one out"},
		"a key of a pair":         {annotation: "ca,ca.crt=24", refused: "ca.crt is there twice"},
		"an authority twice":      {annotation: "ca,ca:1h", refused: "ca is there twice"},
		"a pair without":          {annotation: "tls", refused: "tls needs ca"},
		"no lifetime":             {annotation: "ca:", refused: `"ca:" has no lifetime: write days as in ca:90d`},
		"a short lifetime":        {annotation: "ca,tls:59m", refused: `"tls:59m" has no lifetime: write days as in tls:90d`},
		"a negative lifetime":     {annotation: "ca:-3d", refused: "has no lifetime"},
		"a vast lifetime":         {annotation: "ca:65000d", refused: "has no lifetime"},
		"many names":              {annotation: strings.Repeat("k", 253) + "=16," + strings.Repeat("l", 253) + "=16," + strings.Repeat("m", 253) + "=16," + strings.Repeat("n", 253) + "=16", refused: "use another Secret"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wanted, err := Parse(tc.annotation)
			if tc.refused != "" {
				require.ErrorContains(t, err, tc.refused)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.keys, wanted.Keys())
		})
	}
}

func TestValuesAreRandomAndOfTheirForm(t *testing.T) {
	w := newWorld(t, "a=40,h=hex:20,b=base64:33")
	assert.Equal(t, []string{"a", "b", "h"}, w.fill())
	assert.Regexp(t, regexp.MustCompile(`^[A-Za-z0-9]{40}$`), string(w.data["a"]))
	assert.Regexp(t, regexp.MustCompile(`^[0-9a-f]{40}$`), string(w.data["h"]))
	raw, err := base64.StdEncoding.DecodeString(string(w.data["b"]))
	require.NoError(t, err)
	assert.Len(t, raw, 33)
	other := newWorld(t, "a=40,h=hex:20,b=base64:33")
	other.fill()
	for key, value := range w.data {
		assert.NotEqual(t, value, other.data[key], key)
	}
}

// Each letter has to be as likely as any other: with a remainder, the first 8 would come a quarter more often.
func TestLettersAreEquallyLikely(t *testing.T) {
	const each = 4000
	letters, err := Maker{Random: rand.Reader}.letters(each * len(alphabet))
	require.NoError(t, err)
	count := map[byte]int{}
	for _, letter := range letters {
		count[letter]++
	}
	assert.Len(t, count, len(alphabet))
	for letter, found := range count {
		assert.Less(t, math.Abs(float64(found-each)), 8*math.Sqrt(each), string(letter))
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("no randomness") }

func TestNothingIsMadeWithoutRandomness(t *testing.T) {
	for _, annotation := range []string{"key=24", "key=hex:24"} {
		w := newWorld(t, annotation)
		_, err := Maker{Random: broken{}, Now: time.Now}.Fill(w.wanted, nil, Note{}, "1")
		assert.ErrorContains(t, err, "cannot make key: no randomness")
	}
}

func TestWhatIsThereStays(t *testing.T) {
	w := newWorld(t, "password=24")
	w.data = map[string][]byte{"password": []byte("of a user"), "more": []byte("of a user, too")}
	assert.Equal(t, []string(nil), w.fill())
	assert.Equal(t, Note{Keys: []string{"password"}, Version: "1"}, w.note)
	assert.NotContains(t, w.data, "more", "what nobody asked for is not the operator's")

	w.wanted.Values = map[string]Value{"other": {Hex, 16}}
	assert.Equal(t, []string{"other"}, w.fill())
	assert.Contains(t, w.data, "password", "a key that is no longer asked for stays")
	assert.Equal(t, "1", w.note.Version, "a new key is no change of an old one")
}

func TestAKeyThatWasDeletedIsMadeAgainWithAnotherVersion(t *testing.T) {
	w := newWorld(t, "password=24,key=hex:32")
	w.fill()
	for _, version := range []string{"1.1", "1.2", "1.3"} {
		before := maps.Clone(w.data)
		delete(w.data, "password")
		assert.Equal(t, []string{"password"}, w.fill())
		assert.NotEqual(t, before["password"], w.data["password"])
		assert.Equal(t, version, w.note.Version)
	}
	assert.Equal(t, "8", FirstVersion(7))
}

func TestLacks(t *testing.T) {
	w := newWorld(t, "password=24,ca,tls")
	w.fill()
	all := map[string]any{}
	for key := range w.data {
		all[key] = "x"
	}
	without := func(key string) map[string]any {
		out := maps.Clone(all)
		delete(out, key)
		return out
	}
	noted := func(change func(*Note)) Note {
		note := w.note
		note.Keys = slices.Clone(note.Keys)
		change(&note)
		return note
	}
	cases := map[string]struct {
		note Note
		data map[string]any
		want string
	}{
		"nothing":                          {w.note, all, ""},
		"nothing that metadata shows":      {w.note, nil, ""},
		"all":                              {Note{}, nil, "data.ca.crt"},
		"a key that was deleted":           {w.note, without("password"), "data.password"},
		"a key that was never filled":      {noted(func(n *Note) { n.Keys = slices.DeleteFunc(n.Keys, func(k string) bool { return k == "password" }) }), all, "data.password"},
		"the version":                      {noted(func(n *Note) { n.Version = "" }), all, "metadata.annotations.app.example.com/generated-version"},
		"other names":                      {noted(func(n *Note) { n.For = "api" }), all, "data.tls.crt"},
		"the time of renewal":              {noted(func(n *Note) { n.RenewAfter = "" }), all, "metadata.annotations.app.example.com/renew-after"},
		"a time of renewal that is none":   {noted(func(n *Note) { n.RenewAfter = "soon" }), all, "metadata.annotations.app.example.com/renew-after"},
		"nothing where others made them":   {noted(func(n *Note) { n.RenewAfter = never }), all, ""},
		"nothing where renewal is overdue": {noted(func(n *Note) { n.RenewAfter = "2001-01-01T00:00:00Z" }), all, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, w.wanted.Lacks(tc.note, tc.data)) })
	}
	assert.Empty(t, Wanted{}.Lacks(Note{}, nil), "nothing is wanted of it")
}

func TestForgedNotesAreHarmless(t *testing.T) {
	for _, version := range []string{"", "x", "1.2.3", "-1", strings.Repeat("1", 100), "1.9999999999"} {
		note := noteIn(map[string]string{v1.AnnotationGeneratedVersion: version, v1.AnnotationRenewAfter: strings.Repeat("9", 1000)})
		assert.Empty(t, note.Version)
		assert.False(t, note.Due(start))
	}
	w := newWorld(t, "ca,tls")
	w.fill()
	for _, forged := range []string{"2001-01-01T00:00:00Z", "9999-01-01T00:00:00Z", "", "never"} {
		noted := w.note.RenewAfter
		w.note.RenewAfter = forged
		assert.Empty(t, w.fill(), "certificates are their own proof, not %q", forged)
		assert.Equal(t, noted, w.note.RenewAfter)
	}
}

func TestOf(t *testing.T) {
	secret := kube.Metadata(kube.SecretKind)
	assert.True(t, Of(secret).None())
	secret.Annotations = map[string]string{v1.AnnotationGenerate: "ca,tls,x=16", v1.AnnotationGenerateFor: "web"}
	assert.Equal(t, "web", Of(secret).For)
	assert.Len(t, Of(secret).Keys(), 5)
	secret.Annotations[v1.AnnotationGenerate] = "?"
	assert.True(t, Of(secret).None(), "an annotation that cannot be read")
	other := kube.Metadata(metav1.SchemeGroupVersion.WithKind("ConfigMap"))
	other.Annotations = map[string]string{v1.AnnotationGenerate: "x=16"}
	assert.True(t, Of(other).None(), "another kind")
}

// verifies reports whether the pair of a Secret is valid for a name and by its authority.
func (w *world) verifies(name string) error {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(w.data[CACert])
	cert := pairOf(w.data[TLSCert], w.data[TLSKey])
	require.NotNil(w.t, cert, "no pair")
	_, err := cert.cert.Verify(x509.VerifyOptions{DNSName: name, Roots: roots, CurrentTime: w.now,
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}})
	return err
}

func TestAPairIsValidForTheNamesAndByTheAuthority(t *testing.T) {
	w := newWorld(t, "ca,tls")
	assert.Equal(t, []string{"ca.crt", "ca.key", "tls.crt", "tls.key"}, w.fill())
	for _, name := range []string{"web", "web.demo", "web.demo.svc"} {
		assert.NoError(t, w.verifies(name))
	}
	assert.Error(t, w.verifies("api"))
	authority, signed := pairOf(w.data[CACert], w.data[CAKey]), pairOf(w.data[TLSCert], w.data[TLSKey])
	assert.Equal(t, start.Add(caLifetime), authority.cert.NotAfter)
	assert.Equal(t, start.Add(tlsLifetime), signed.cert.NotAfter)
	assert.True(t, authority.cert.IsCA && !signed.cert.IsCA)
	assert.Empty(t, w.fill(), "once is enough")
	assert.Equal(t, "1", w.note.Version)
}

func TestCertificatesAreRenewedAfterTwoThirdsOfTheirLifetime(t *testing.T) {
	w := newWorld(t, "ca:300d,tls:30d,password=24")
	w.fill()
	first := slices.Clone(w.data[CACert])
	day := 24 * time.Hour
	w.now = start.Add(20*day - time.Hour)
	assert.False(t, w.note.Due(w.now))
	assert.Empty(t, w.fill())
	w.now = start.Add(20 * day)
	assert.True(t, w.note.Due(w.now))
	assert.Equal(t, []string{"tls.crt", "tls.key"}, w.fill())
	assert.Equal(t, "1.1", w.note.Version, "pods have to see it")

	w.now = start.Add(200 * day)
	assert.Equal(t, []string{"ca.crt", "ca.key", "tls.crt", "tls.key"}, w.fill())
	assert.Equal(t, "1.2", w.note.Version)
	assert.NoError(t, w.verifies("web"))
	assert.Len(t, certificatesIn(w.data[CACert]), 2)
	assert.Contains(t, string(w.data[CACert]), string(first), "the former authority is still trusted")

	w.now = start.Add(400 * day)
	w.fill()
	assert.NotContains(t, string(w.data[CACert]), string(first), "until it ends")
	assert.Len(t, certificatesIn(w.data[CACert]), 2)
}

func TestAPairIsMadeAgainForOtherNames(t *testing.T) {
	w := newWorld(t, "ca,tls")
	w.fill()
	w.wanted.For = "web,api"
	assert.Equal(t, []string{"tls.crt", "tls.key"}, w.fill())
	assert.NoError(t, w.verifies("api"))
}

func TestHalfAPairIsNone(t *testing.T) {
	for deleted, want := range map[string][]string{
		TLSKey: {TLSCert, TLSKey}, TLSCert: {TLSCert, TLSKey},
		CAKey: {CACert, CAKey, TLSCert, TLSKey}, CACert: {CACert, CAKey, TLSCert, TLSKey},
	} {
		w := newWorld(t, "ca,tls")
		w.fill()
		delete(w.data, deleted)
		assert.Equal(t, want, w.fill(), "%s was deleted", deleted)
		assert.Equal(t, "1.1", w.note.Version)
		assert.NoError(t, w.verifies("web"))
	}
}

func TestAPairThatSomebodyElseMadeIsNeverRenewed(t *testing.T) {
	w := newWorld(t, "ca")
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IsCA: true, BasicConstraintsValid: true, NotBefore: start.AddDate(-2, 0, 0), NotAfter: start.AddDate(-1, 0, 0)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	require.NoError(t, err)
	private, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(t, err)
	w.data = map[string][]byte{
		CACert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), CAKey: pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})}
	assert.Empty(t, w.fill(), "although it has ended")
	assert.Equal(t, never, w.note.RenewAfter)
}

func TestCertificatesOfOthersAreLeftAlone(t *testing.T) {
	w := newWorld(t, "ca,tls")
	w.data = map[string][]byte{CACert: []byte("a"), CAKey: []byte("b"), TLSCert: []byte("c"), TLSKey: []byte("d")}
	assert.Empty(t, w.fill())
	assert.Equal(t, never, w.note.RenewAfter)

	delete(w.data, TLSKey)
	_, err := Maker{Random: rand.Reader, Now: time.Now}.Fill(w.wanted, w.data, w.note, "1")
	assert.ErrorContains(t, err, "delete both keys from the Secret")
}
