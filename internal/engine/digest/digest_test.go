package digest

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Digests are stored in clusters: one that changes would release everything again.
func TestOfIsSHA256(t *testing.T) {
	assert.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", Of([]byte("abc")))
}
