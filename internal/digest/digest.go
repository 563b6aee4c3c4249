// Package digest returns digests of texts.
package digest

import (
	"crypto/sha256"
	"encoding/hex"
)

// Of returns the SHA-256 of a text in 64 hexadecimal characters. Callers keep as many as they need.
func Of(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
