package dependency

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Content identifies the content that pods take from what objects refer to. The zero value stands for none.
type Content struct {
	// Digest of the content. It is a plain one: whoever reads it can test guesses at a value, so that it is kept in Secrets only.
	Digest string
	// Version is another one whenever the digest changes, also when that was seen before, and says nothing of the content: it is made of
	// the UIDs and versions of the objects. It is for pods, which more people may read than Secrets.
	Version string
}

// ContentOf returns what identifies the content that pods take: 32 and 24 hexadecimal characters; zero if they take none.
func ContentOf(references []Reference, there map[Object]State) Content {
	digest, version := sha256.New(), sha256.New()
	some := false
	for _, reference := range references {
		if !reference.Content {
			continue
		}
		some = true
		state := there[reference.Object]
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

// TakesContent reports whether pods take any content from what objects refer to.
func TakesContent(references []Reference) bool {
	return slices.ContainsFunc(references, func(r Reference) bool { return r.Content })
}

// After returns the content under its earlier version if it is the same as then: what else changes of an object, such as its labels, rolls
// no pods.
func (c Content) After(earlier Content) Content {
	if c.Digest == earlier.Digest {
		return earlier
	}
	return c
}

// String is the content as ParseContent reads it; empty for none. It fits into a label.
func (c Content) String() string {
	if c == (Content{}) {
		return ""
	}
	return c.Digest + "." + c.Version
}

// ParseContent reads what String made; zero for anything else.
func ParseContent(text string) Content {
	digest, version, found := strings.Cut(text, ".")
	if !found {
		return Content{}
	}
	return Content{Digest: digest, Version: version}
}
