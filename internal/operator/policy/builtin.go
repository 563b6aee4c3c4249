package policy

import (
	_ "embed" // the built-in policies
	"fmt"
	"sync"
)

// BuiltIn is the name of a built-in policy, which a file is laid over.
type BuiltIn string

const (
	// Open allows what a person with the role edit may do by applying the objects himself.
	Open BuiltIn = "open"
	// Shared keeps the tenants of a cluster from each other, from nodes, and from identities. Without a word of the
	// platform team, it is the one in use.
	Shared BuiltIn = "shared"
)

// NoFile is the source of a policy without a file.
const NoFile = "no file"

//go:embed open.yaml
var openText []byte

//go:embed shared.yaml
var sharedText []byte

//go:embed earlier.yaml
var earlierText []byte

var (
	open   = sync.OnceValue(func() Settings { return parsed(Open, openText) })
	shared = sync.OnceValue(func() Settings { return parsed(Shared, sharedText) })
	// earlier are the settings, laid over those of shared, that earlier versions of it had.
	earlier = sync.OnceValue(func() Settings { return parsed(Shared, earlierText) })
)

func parsed(name BuiltIn, text []byte) Settings {
	file, err := parse(name.String(), text)
	if err != nil {
		panic(err) // it is part of the program
	}
	return file.Default
}

// settings returns the rules, all of which are set.
func (b BuiltIn) settings() Settings {
	if b == Open {
		return open()
	}
	return shared()
}

func (b BuiltIn) String() string { return "built-in policy " + string(b) }

// UnmarshalText implements encoding.TextUnmarshaler.
func (b *BuiltIn) UnmarshalText(text []byte) error {
	*b = BuiltIn(text)
	if *b != Open && *b != Shared {
		return fmt.Errorf("must be a built-in policy, open or shared, not %q", text)
	}
	return nil
}
