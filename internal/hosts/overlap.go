package hosts

import (
	"regexp/syntax"
	"strings"
)

// Overlap reports whether there may be a request that both claims answer. If that cannot be decided, as with regular
// expressions, it returns true.
func Overlap(a, b Claim) bool {
	return hostsOverlap(a, b) && pathsOverlap(a.Path, b.Path) &&
		(a.Method == b.Method || a.Method == "" || b.Method == "") && conditionsOverlap(a.Conditions, b.Conditions)
}

// Same reports whether both claims are for the same requests, so that it is undefined which of them answers. If one is for
// fewer requests than the other, Ingress controllers and gateways prefer it.
func Same(a, b Claim) bool {
	if a.Host != b.Host || a.Method != b.Method || a.Conditions != b.Conditions {
		return false
	}
	if a.Host == "" && !a.Entry.overlaps(b.Entry) {
		return false
	}
	return a.Path.Text == b.Path.Text && (a.Path.Match == Exact) == (b.Path.Match == Exact)
}

func hostsOverlap(a, b Claim) bool {
	if a.Host == "" || b.Host == "" {
		return a.Entry.overlaps(b.Entry)
	}
	return a.Host == b.Host || covers(a.Host, b.Host) || covers(b.Host, a.Host)
}

// covers reports whether a wildcard covers a host or a narrower wildcard. A wildcard may stand for several labels, as with
// gateways, and with most Ingress controllers.
func covers(wildcard, host string) bool {
	domain, found := strings.CutPrefix(wildcard, "*")
	return found && strings.HasSuffix(host, domain)
}

func (e Entry) overlaps(other Entry) bool {
	switch {
	case e.Kind != other.Kind:
		return false
	case e.Kind == ingressKind.Kind:
		return e.Name == other.Name || e.Name == "" || other.Name == ""
	}
	return e.Name == other.Name && (e.Listener == other.Listener || e.Listener == "" || other.Listener == "") &&
		(e.Port == other.Port || e.Port == 0 || other.Port == 0)
}

func pathsOverlap(a, b Path) bool {
	switch {
	case a.Match == Pattern || b.Match == Pattern:
		x, y := a.begin(), b.begin()
		return strings.HasPrefix(x, y) || strings.HasPrefix(y, x)
	case a.Match == Exact && b.Match == Exact:
		return a.Text == b.Text
	case a.Match == Exact:
		return under(b.Text, a.Text)
	case b.Match == Exact:
		return under(a.Text, b.Text)
	}
	return under(a.Text, b.Text) || under(b.Text, a.Text)
}

// under reports whether a path lies under a prefix, element by element.
func under(prefix, path string) bool {
	rest, found := strings.CutPrefix(path, prefix)
	return prefix == everything || found && (rest == "" || rest[0] == '/')
}

// begin returns the common beginning of all matching paths, in lower case as some controllers ignore case in patterns.
func (p Path) begin() string {
	if p.Match == Pattern {
		return p.start
	}
	return strings.ToLower(p.Text)
}

// literalStart returns how all matches of a regular expression begin; empty if it may match anywhere in a path, or is not one. It is parsed
// and never compiled: a path of a thousand letters can repeat x{1000} so often that its program has a hundred thousand instructions.
func literalStart(pattern string) string {
	parsed, err := syntax.Parse(strings.TrimPrefix(pattern, "^"), syntax.Perl)
	if err != nil {
		return ""
	}
	text, _ := leading(parsed)
	if !strings.HasPrefix(text, "/") {
		return ""
	}
	return strings.ToLower(text)
}

// leading returns the text that all matches of an expression begin with, and whether it is the whole match.
func leading(expression *syntax.Regexp) (text string, all bool) {
	switch expression.Op {
	case syntax.OpLiteral:
		if expression.Flags&syntax.FoldCase == 0 {
			return string(expression.Rune), true
		}
	case syntax.OpEmptyMatch:
		return "", true
	case syntax.OpCapture:
		return leading(expression.Sub[0])
	case syntax.OpConcat:
		for _, part := range expression.Sub {
			more, whole := leading(part)
			if text += more; !whole {
				return text, false
			}
		}
		return text, true
	}
	return "", false
}

func conditionsOverlap(a, b string) bool {
	if a == b || a == "" || b == "" {
		return true
	}
	wanted := map[string]string{}
	for line := range strings.Lines(a) {
		if name, value, exact := cut(line); exact {
			wanted[name] = value
		}
	}
	for line := range strings.Lines(b) {
		name, value, exact := cut(line)
		if other, found := wanted[name]; exact && found && other != value {
			return false
		}
	}
	return true
}

// cut splits a condition into name and value, unless it is for a pattern.
func cut(line string) (name, value string, exact bool) {
	at := strings.IndexAny(line, "=~")
	if at < 0 || line[at] == '~' {
		return "", "", false
	}
	return line[:at], strings.TrimSuffix(line[at+1:], "\n"), true
}
