package reference

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Content identifies the content that pods take from referenced objects. The zero value stands for none.
type Content struct {
	// Digest of the content, unsalted: anyone who reads it can test guesses at a value, so it is stored in Secrets only.
	Digest string
	// Version changes whenever the digest changes, even to an earlier digest, and reveals nothing about the content: it is
	// computed from the UIDs and versions of the objects. It is for pods, which more people may read than Secrets.
	Version string
}

// ContentOf returns the identity of the content that pods take: 32 and 24 hexadecimal characters; zero if they take
// none.
func ContentOf(references []Reference, states map[Object]State) Content {
	digest, version := sha256.New(), sha256.New()
	some := false
	for _, reference := range references {
		if !reference.Content {
			continue
		}
		some = true
		state := states[reference.Object]
		fmt.Fprintf(version, "%s %s\n", reference.Object, state.Version)
		fmt.Fprintf(digest, "%s %s %t\n", reference.Object, reference.Key, state.Found)
		for _, key := range slices.Sorted(maps.Keys(state.Data)) {
			if reference.Key == "" || reference.Key == key {
				fmt.Fprintf(digest, "%q %s\n", key, state.Data[key])
			}
		}
	}
	if !some {
		return Content{}
	}
	return Content{Digest: hex.EncodeToString(digest.Sum(nil))[:32], Version: hex.EncodeToString(version.Sum(nil))[:24]}
}

// TakesContent reports whether pods take any content from referenced objects.
func TakesContent(references []Reference) bool {
	return slices.ContainsFunc(references, func(r Reference) bool { return r.Content })
}

// After returns the content with its earlier version if the digest is the same: other changes of an object, such as
// labels, roll no pods.
func (c Content) After(earlier Content) Content {
	if c.Digest == earlier.Digest {
		return earlier
	}
	return c
}

// String formats the content for ParseContent; empty for none. It fits into a label.
func (c Content) String() string {
	if c == (Content{}) {
		return ""
	}
	return c.Digest + "." + c.Version
}

// ParseContent parses the output of String; zero for anything else.
func ParseContent(text string) Content {
	digest, version, found := strings.Cut(text, ".")
	if !found {
		return Content{}
	}
	return Content{Digest: digest, Version: version}
}
