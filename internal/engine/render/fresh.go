package render

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"sync"
	"text/template"
	"text/template/parse"
	"time"

	appchart "github.com/example/appservice-operator/internal/engine/chart"
)

// A fresh function is one whose result differs between renders: random texts, keys, the time. For a published chart, it
// returns what depends on a seed only. There are two seeds, which have no character of a random text in common: what
// differs between renders with each would differ in each render.

type seed int

const (
	first seed = iota
	second
)

// call is a call of a fresh function, or of lookup. Its site is file, line and column.
type call struct{ function, site string }

// either returns one of two values.
func either[T any](s seed, one, other T) T {
	if s == first {
		return one
	}
	return other
}

// times are the results of now. They have no part in common: neither the day of the week nor the first digit.
var times = map[seed]time.Time{
	first:  time.Date(1987, 1, 2, 3, 4, 5, 0, time.UTC),
	second: time.Date(2111, 12, 15, 14, 16, 26, 0, time.UTC),
}

// One half of each is for each seed. They have no letter in common, only the second has digits beside letters, and no
// digit has the same remainder by five at the same place.
const (
	letters      = "abcdefghijklmABCDEFGHIJKLMnopqrstuvwxyzNOPQRSTUVWXYZ"
	alphanumeric = "abcdefghijklmABCDEFGHIJKLM" + "n5o6p7q8r9s5t6u7v8w9x5y6z7"
	digits       = "01234" + "67895"
)

// calls notes the calls of the fresh functions in one render.
type calls struct {
	seed seed
	// only is the site of the only call that has the seed; empty for all.
	only          string
	made, lookups []call
	// take counts bytes, and returns an error if they are too many.
	take func(bytes float64) error
}

// text returns a text, and counts it.
func (c *calls) text(text string) (string, error) { return text, c.take(float64(len(text))) }

// chars returns so many characters of the half of an alphabet that is a seed's, beginning at another one in each call.
func (c *calls) chars(s seed, alphabet string, count int) string {
	half := either(s, alphabet[:len(alphabet)/2], alphabet[len(alphabet)/2:])
	begin := len(c.made) % len(half)
	return strings.Repeat(half, count/len(half)+2)[begin : begin+count]
}

// pair is a certificate with its key.
type pair struct{ Cert, Key string }

// pairOf returns the pair of a seed.
func pairOf(s seed) (pair, error) { return either(s, firstPair, secondPair)() }

var firstPair, secondPair = sync.OnceValues(newPair), sync.OnceValues(newPair)

func newPair() (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "none"}}
	cert, err := x509.CreateCertificate(rand.Reader, about, about, key.Public(), key)
	if err != nil {
		return pair{}, err
	}
	text, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return pair{}, err
	}
	return pair{
		Cert: string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert})),
		Key:  string(pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text})),
	}, nil
}

// called notes a call of a fresh function, and returns its seed.
func (c *calls) called(function, site string) seed {
	c.made = append(c.made, call{function, site})
	if c.only != "" && c.only != site {
		return first
	}
	return c.seed
}

// functions returns the fresh functions for a published chart, and lookup. Each takes the place of its call first.
func (c *calls) functions() template.FuncMap {
	random := func(function, alphabet string) any {
		return func(site string, count int) (string, error) {
			if count < 0 {
				return "", fmt.Errorf("%s: the count is negative", function)
			}
			if err := c.take(float64(count)); err != nil {
				return "", err
			}
			return c.chars(c.called(function, site), alphabet, count), nil
		}
	}
	certificate := func(function, site string) (pair, error) { return pairOf(c.called(function, site)) }
	return template.FuncMap{
		"randAlpha":    random("randAlpha", letters),
		"randAlphaNum": random("randAlphaNum", alphanumeric),
		"randAscii":    random("randAscii", alphanumeric),
		"randNumeric":  random("randNumeric", digits),
		"randBytes": func(site string, count int) (string, error) {
			if err := c.take(float64(max(0, count))); err != nil || count < 0 {
				return "", cmp.Or(err, errors.New("randBytes: the count is negative"))
			}
			bytes := strings.Repeat(either(c.called("randBytes", site), "\x11", "\xee"), count)
			return base64.StdEncoding.EncodeToString([]byte(bytes)), nil
		},
		"randInt": func(site string, least, most int) (int, error) {
			if most <= least {
				return 0, errors.New("randInt: the first number is not less than the second")
			}
			s, others := c.called("randInt", site), len(c.made)-1
			return either(s, least, least+min(1, most-least-1)+others%max(1, most-least-1)), nil
		},
		"shuffle": func(site, text string) string {
			runes := []rune(text)
			if c.called("shuffle", site) == second {
				slices.Reverse(runes)
			}
			return string(runes)
		},
		"uuidv4": func(site string) string {
			return either(c.called("uuidv4", site), "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-9222-222222222222")
		},
		"bcrypt": func(site, _ string) string { return "$2a$10$" + c.chars(c.called("bcrypt", site), letters, 53) },
		"htpasswd": func(site, user, _ string) (string, error) {
			if strings.Contains(user, ":") {
				return "", errors.New("htpasswd: the name of a user has no colon")
			}
			return user + ":$2a$10$" + c.chars(c.called("htpasswd", site), letters, 53), nil
		},
		"encryptAES": func(site, _, text string) (string, error) {
			made := either(c.called("encryptAES", site), "first", "other") + strings.Repeat(" ", len(text))
			return c.text(base64.StdEncoding.EncodeToString([]byte(made)))
		},
		"genPrivateKey": func(site, _ string) (string, error) {
			made, err := pairOf(c.called("genPrivateKey", site))
			return made.Key, err
		},
		"genCA":        func(site, _ string, _ int) (pair, error) { return certificate("genCA", site) },
		"genCAWithKey": func(site, _ string, _ int, _ string) (pair, error) { return certificate("genCAWithKey", site) },
		"genSelfSignedCert": func(site, _ string, _, _ []any, _ int) (pair, error) {
			return certificate("genSelfSignedCert", site)
		},
		"genSelfSignedCertWithKey": func(site, _ string, _, _ []any, _ int, _ string) (pair, error) {
			return certificate("genSelfSignedCertWithKey", site)
		},
		"genSignedCert": func(site, _ string, _, _ []any, _ int, _ any) (pair, error) {
			return certificate("genSignedCert", site)
		},
		"genSignedCertWithKey": func(site, _ string, _, _ []any, _ int, _ any, _ string) (pair, error) {
			return certificate("genSignedCertWithKey", site)
		},
		"now": func(site string) time.Time { return times[c.called("now", site)] },
		"ago": func(site string, _ any) string { return either(c.called("ago", site), "1s", "2h0m0s") },
		"lookup": func(site, _, kind, _, _ string) map[string]any {
			c.lookups = append(c.lookups, call{"lookup of " + kind, site})
			return map[string]any{}
		},
	}
}

// dates returns the functions that format a time, and take the present one for what is none.
func (c *calls) dates(dateInZone func(string, any, string) string, durationRound func(any) string) template.FuncMap {
	in := func(function, site, layout string, at any, zone string) string {
		switch at.(type) {
		case time.Time, *time.Time, int, int32, int64:
			return dateInZone(layout, at, zone)
		}
		return dateInZone(layout, times[c.called(function, site)], zone)
	}
	return template.FuncMap{
		"date": func(site, layout string, at any) string { return in("date", site, layout, at, "Local") },
		"dateInZone": func(site, layout string, at any, zone string) string {
			return in("dateInZone", site, layout, at, zone)
		},
		"date_in_zone": func(site, layout string, at any, zone string) string {
			return in("date_in_zone", site, layout, at, zone)
		},
		"htmlDate": func(site string, at any) string { return in("htmlDate", site, time.DateOnly, at, "Local") },
		"htmlDateInZone": func(site string, at any, zone string) string {
			return in("htmlDateInZone", site, time.DateOnly, at, zone)
		},
		"durationRound": func(site string, length any) string {
			if _, isTime := length.(time.Time); isTime {
				return either(c.called("durationRound", site), "1s", "2h")
			}
			return durationRound(length)
		},
	}
}

// located are the functions whose calls have their place as the first argument.
var located = func() map[string]bool {
	c, names := &calls{}, map[string]bool{}
	for _, functions := range []template.FuncMap{c.functions(), c.dates(nil, nil)} {
		for name := range maps.Keys(functions) {
			names[name] = true
		}
	}
	return names
}()

// locate adds their place to the calls of such functions in a tree.
func locate(tree *parse.Tree) {
	var commands []*parse.CommandNode
	appchart.Inspect(tree.Root, func(node parse.Node) {
		if command, is := node.(*parse.CommandNode); is {
			commands = append(commands, command)
		}
	})
	for _, command := range commands {
		args := make([]parse.Node, 0, len(command.Args)+1)
		for i, arg := range command.Args {
			identifier, is := arg.(*parse.IdentifierNode)
			if !is || !located[identifier.Ident] {
				args = append(args, arg)
				continue
			}
			at, _ := tree.ErrorContext(identifier)
			site := &parse.StringNode{NodeType: parse.NodeString, Pos: identifier.Pos, Quoted: `"` + at + `"`, Text: at}
			if i == 0 {
				args = append(args, identifier, site)
				continue
			}
			call := &parse.CommandNode{NodeType: parse.NodeCommand, Pos: identifier.Pos, Args: []parse.Node{identifier, site}}
			args = append(args, &parse.PipeNode{NodeType: parse.NodePipe, Pos: identifier.Pos, Cmds: []*parse.CommandNode{call}})
		}
		command.Args = args
	}
}

// sorted returns keys and values of maps in order: Helm's are in a random one.
func sorted() template.FuncMap {
	return template.FuncMap{
		"keys": func(dicts ...map[string]any) []string {
			list := []string{}
			for _, dict := range dicts {
				list = append(list, slices.Sorted(maps.Keys(dict))...)
			}
			return list
		},
		"values": func(dict map[string]any) []any {
			list := []any{}
			for _, key := range slices.Sorted(maps.Keys(dict)) {
				list = append(list, dict[key])
			}
			return list
		},
	}
}
