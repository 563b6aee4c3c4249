package generate

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Maker makes values.
type Maker struct {
	// Random is a source of random bytes that nobody can guess.
	Random io.Reader
}

// Filled has the values that a Secret is filled with.
type Filled struct {
	// Data are all keys that the operator has filled, those that stay as they are included.
	Data map[string][]byte
	// Annotations note that.
	Annotations map[string]string
}

// Fill returns what a Secret is filled with that has some keys and a note already. Existing values stay as they are.
// First is the version if there is none yet.
func (m Maker) Fill(wanted Request, have map[string][]byte, note Note, first string) (Filled, error) {
	if err := wanted.Refused(slices.AppendSeq(slices.Clone(note.Keys), maps.Keys(have))); err != nil {
		return Filled{}, err
	}
	fill := &filling{Maker: m, wanted: wanted, have: have, note: note, data: map[string][]byte{}}
	for _, key := range append(wanted.Keys(), note.Keys...) {
		if value, there := have[key]; there {
			fill.data[key] = value
		}
	}
	if err := fill.values(); err != nil {
		return Filled{}, err
	}
	if note.Version == "" {
		note.Version = first
	}
	if fill.again {
		note.Version = next(note.Version)
	}
	kept := slices.AppendSeq(slices.Clone(wanted.Certificates), maps.Keys(fill.data)) // also one that was deleted
	note.Keys = slices.Compact(slices.Sorted(slices.Values(kept)))
	return Filled{fill.data, note.annotations()}, nil
}

// filling is a Secret that is being filled.
type filling struct {
	Maker
	wanted Request
	have   map[string][]byte
	note   Note
	data   map[string][]byte
	again  bool // a key that was filled before was made again
}

// set sets a key to a new value.
func (f *filling) set(key string, value []byte) {
	f.data[key] = value
	f.again = f.again || slices.Contains(f.note.Keys, key)
}

// values makes the random values that are missing.
func (f *filling) values() error {
	for _, key := range slices.Sorted(maps.Keys(f.wanted.Values)) {
		if _, there := f.have[key]; there {
			continue
		}
		value, err := f.random(f.wanted.Values[key])
		if err != nil {
			return fmt.Errorf("cannot make %s: %w", key, err)
		}
		f.set(key, value)
	}
	return nil
}

// alphabet are the letters and digits of alphanumeric values.
const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

// random returns a random value.
func (m Maker) random(of Value) ([]byte, error) {
	if of.Encoding == Alphanumeric {
		return m.letters(of.Bytes)
	}
	bytes := make([]byte, of.Bytes)
	if _, err := io.ReadFull(m.Random, bytes); err != nil {
		return nil, err
	}
	if of.Encoding == Hex {
		return hex.AppendEncode(nil, bytes), nil
	}
	return base64.StdEncoding.AppendEncode(nil, bytes), nil
}

// letters returns random letters and digits, all equally likely: bytes beyond a multiple of their number are dropped.
func (m Maker) letters(count int) ([]byte, error) {
	out, bytes := make([]byte, 0, count), make([]byte, count)
	for len(out) < count {
		if _, err := io.ReadFull(m.Random, bytes); err != nil {
			return nil, err
		}
		for _, b := range bytes {
			if int(b) < 256/len(alphabet)*len(alphabet) && len(out) < count {
				out = append(out, alphabet[int(b)%len(alphabet)])
			}
		}
	}
	return out, nil
}
