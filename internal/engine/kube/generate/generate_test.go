package generate

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/kube"
)

// world is a Secret, and what fills it.
type world struct {
	t      *testing.T
	wanted Request
	data   map[string][]byte
	note   Note
}

func newWorld(t *testing.T, annotation string) *world {
	t.Helper()
	wanted, err := Parse(annotation)
	require.NoError(t, err)
	return &world{t: t, wanted: wanted}
}

// fill fills the Secret, and returns the keys that changed.
func (w *world) fill() (changed []string) {
	w.t.Helper()
	filled, err := Maker{Random: rand.Reader}.Fill(w.wanted, w.data, w.note, "1")
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
		"a pair":                  {annotation: "ca:3650d,tls:12h,password=24", keys: []string{"ca.crt", "ca.key", "password", "tls.crt", "tls.key"}},
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
		"an authority twice":      {annotation: "ca,ca:1h", refused: "ca.crt is there twice"},
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
		_, err := Maker{Random: broken{}}.Fill(w.wanted, nil, Note{}, "1")
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
	w.data, w.note = withPair(), noteOfPair()
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
		"the note of a certificate":        {noted(func(n *Note) { n.Keys = []string{"password"} }), all, "data.ca.crt"},
		"nothing if a certificate is gone": {w.note, without("tls.crt"), ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, w.wanted.Lacks(tc.note, tc.data)) })
	}
	assert.Empty(t, Request{}.Lacks(Note{}, nil), "nothing is wanted of it")
}

func TestForgedNotesAreHarmless(t *testing.T) {
	for _, version := range []string{"", "x", "1.2.3", "-1", strings.Repeat("1", 100), "1.9999999999"} {
		assert.Empty(t, noteIn(map[string]string{v1.AnnotationGeneratedVersion: version}).Version)
	}
}

func TestOf(t *testing.T) {
	secret := kube.Metadata(kube.SecretKind)
	assert.True(t, Of(secret).None())
	secret.Annotations = map[string]string{v1.AnnotationGenerate: "ca,tls,x=16"}
	assert.Len(t, Of(secret).Keys(), 5)
	secret.Annotations[v1.AnnotationGenerate] = "?"
	assert.True(t, Of(secret).None(), "an annotation that cannot be read")
	other := kube.Metadata(metav1.SchemeGroupVersion.WithKind("ConfigMap"))
	other.Annotations = map[string]string{v1.AnnotationGenerate: "x=16"}
	assert.True(t, Of(other).None(), "another kind")
}

// withPair is the content of a Secret for which an earlier version made a pair, and noteOfPair its note.
func withPair() map[string][]byte {
	return map[string][]byte{"password": []byte("p"), "ca.crt": []byte("a"), "ca.key": []byte("b"), "tls.crt": []byte("c"), "tls.key": []byte("d")}
}

func noteOfPair() Note {
	return noteIn(map[string]string{v1.AnnotationGenerated: "ca.crt,ca.key,password,tls.crt,tls.key", v1.AnnotationGeneratedVersion: "1.3"})
}

func TestCertificatesThatAreThereStayAsTheyAre(t *testing.T) {
	for name, note := range map[string]Note{"of an earlier version": noteOfPair(), "whose note is lost": {}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "password=24,ca:300d,tls:30d")
			w.data, w.note = withPair(), note
			assert.Empty(t, w.fill())
			assert.Equal(t, withPair(), w.data)
			assert.Equal(t, noteOfPair().Keys, w.note.Keys)
			assert.Equal(t, []string{"ca.crt", "ca.key", "tls.crt", "tls.key"}, w.note.Certificates())
			delete(w.data, "password")
			assert.Equal(t, []string{"password"}, w.fill(), "other values are made again")
		})
	}
}

func TestACertificateThatSomebodyDeletedIsNotMissed(t *testing.T) {
	w := newWorld(t, "password=24,ca,tls")
	w.data, w.note = withPair(), noteOfPair()
	delete(w.data, "tls.crt")
	delete(w.data, "password")
	assert.Equal(t, []string{"password"}, w.fill())
	assert.Empty(t, w.wanted.Refused(w.note.Keys))
	assert.Equal(t, "1.4", w.note.Version)
}

func TestCertificatesAreNotMade(t *testing.T) {
	cases := map[string]struct {
		annotation string
		have       map[string][]byte
		note       Note
		names      string
	}{
		"an authority": {annotation: "ca", names: "ca.crt"},
		"a pair":       {annotation: "ca,tls", names: "ca.crt"},
		"beside values that are there": {annotation: "password=24,ca", have: map[string][]byte{"password": []byte("p")},
			note: Note{Keys: []string{"password"}, Version: "1"}, names: "ca.crt"},
		"a pair of an authority of ours": {annotation: "ca,tls", note: Note{Keys: []string{"ca.crt", "ca.key"}, Version: "1"}, names: "tls.crt"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wanted, err := Parse(tc.annotation)
			require.NoError(t, err)
			_, err = Maker{Random: rand.Reader}.Fill(wanted, tc.have, tc.note, "1")
			require.ErrorContains(t, err, tc.names+" is a certificate")
			assert.ErrorContains(t, err, "cert-manager")
		})
	}
}
