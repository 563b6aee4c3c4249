// Package digest returns digests of texts.
package digest

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

// Of returns the SHA-256 of a text in 64 hexadecimal characters. Callers keep as many as they need.
func Of(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Keyed returns the HMAC-SHA-256 of a text in 64 hexadecimal characters: without the key, nobody can test guesses at
// the text.
func Keyed(key, text string) string {
	sum := hmac.New(sha256.New, []byte(key))
	_, _ = sum.Write([]byte(text)) // never fails
	return hex.EncodeToString(sum.Sum(nil))
}
