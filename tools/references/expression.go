package references

import (
	"fmt"
	"strings"
)

// names is an expression on object o: what a field names, each as FIELD/NAME, separated by spaces.
func (p path) names() string {
	return p.each("o", func(chain string, leaf path) string {
		value := chain
		if strings.Contains(chain, "?") {
			value += ".orValue('')"
		}
		if leaf.last().name == "name" && p.copied() {
			kind := strings.TrimSuffix(chain, ".?name") + ".?kind.orValue('')"
			value = fmt.Sprintf("(%s == '%s' ? %s : '')", kind, claim, value)
		}
		if !leaf.last().open {
			return fmt.Sprintf("'%s/' + %s", p, value)
		}
		return fmt.Sprintf("[%s].filter(s, type(s) == string).map(s, '%s/' + s).join(' ')", value, p)
	}, func(maps string) string { return maps + ".join(' ')" })
}

// size is an expression on object o: how many entries the list, or map, has that the path ends with.
func (p path) size() string {
	return p.each("o", func(chain string, list path) string {
		switch {
		case list.last().isMap:
			return chain + ".orValue({}).size()"
		case list.last().open:
			return "[" + chain + ".orValue([])].filter(l, type(l) == list).map(l, l.size()).sum()"
		}
		return chain + ".orValue([]).size()"
	}, func(maps string) string { return maps + ".sum()" })
}

// copied reports whether the path is the name of what a volume is copied from, beside which stands of which kind that is.
func (p path) copied() bool {
	return len(p) > 1 && strings.HasPrefix(p[len(p)-2].name, "dataSource")
}

// each is an expression that goes to the end of a path: for each entry of each list on the way it has what end returns, made one by join.
func (p path) each(from string, end func(chain string, rest path) string, join func(string) string) string {
	chain := from
	for i, n := range p {
		if n.name != "" {
			chain += ".?" + n.name
		}
		if n.each == nil || i == len(p)-1 {
			continue
		}
		entry := string(rune(from[0]) + 1)
		if from == "o" {
			entry = "a"
		}
		inner := p[i+1:].each(entry, end, join)
		switch {
		case n.isMap:
			return join(fmt.Sprintf("%s.orValue({}).transformList(k, %s, %s)", chain, entry, inner))
		case n.open: // what is no list has no entries
			return join(fmt.Sprintf("[%s.orValue([])].filter(l, type(l) == list).map(l, %s)", chain, join(fmt.Sprintf("l.map(%s, %s)", entry, inner))))
		}
		return join(fmt.Sprintf("%s.orValue([]).map(%s, %s)", chain, entry, inner))
	}
	return end(chain, p)
}
