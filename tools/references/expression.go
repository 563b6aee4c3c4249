package references

import (
	"fmt"
	"strings"
)

// leaf is the rest of a path below some entry of a list, the field that it leads to, and the kind that it is asked about.
type leaf struct {
	field string
	rest  path
	to    string
}

// branch is what leaves have in common: the first list on their way, by the expression that reads it.
type branch struct {
	chain string
	list  *node
	below []leaf
	// end is the leaf itself where there is no list on its way.
	end *leaf
}

// branches are those of paths that begin at what an expression stands for, in order.
func branches(from string, leaves []leaf) []*branch {
	var order []*branch
	known := map[string]*branch{}
	for _, l := range leaves {
		chain, at := from, 0
		for at < len(l.rest) {
			n := l.rest[at]
			if at++; n.name != "" {
				chain += ".?" + n.name
			}
			if n.each != nil {
				break
			}
		}
		last := l.rest[at-1]
		if last.each == nil {
			order = append(order, &branch{chain: chain, end: &l})
			continue
		}
		if known[chain] == nil {
			known[chain] = &branch{chain: chain, list: last}
			order = append(order, known[chain])
		}
		known[chain].below = append(known[chain].below, leaf{l.field, l.rest[at:], l.to})
	}
	return order
}

// next is the variable of the entries of a list that is an entry itself, or a field of object o.
func next(from string) string {
	if from == "o" {
		return "a"
	}
	return string(rune(from[0]) + 1)
}

// naming is an expression on object o, or on an entry of a list: what fields name, each as FIELD/NAME, separated by spaces.
func naming(from string, leaves []leaf) string {
	var parts []string
	for _, b := range branches(from, leaves) {
		if b.end != nil {
			parts = append(parts, b.name())
			continue
		}
		entry := next(from)
		inner := naming(entry, b.below)
		switch {
		case b.list.isMap:
			parts = append(parts, fmt.Sprintf("%s.orValue({}).transformList(k, %s, %s).join(' ')", b.chain, entry, inner))
		case b.list.open: // what is not a list has no entries
			parts = append(parts, fmt.Sprintf("[%s.orValue([])].filter(l, type(l) == list).map(l, l.map(%s, %s).join(' ')).join(' ')", b.chain, entry, inner))
		default:
			parts = append(parts, fmt.Sprintf("%s.orValue([]).map(%s, %s).join(' ')", b.chain, entry, inner))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	if from == "o" {
		return "[\n        " + strings.Join(parts, ",\n        ") + "\n      ].join(' ')"
	}
	return "[" + strings.Join(parts, ", ") + "].join(' ')"
}

// name is what a field names that no list lies on the way to.
func (b *branch) name() string {
	value := b.chain
	if strings.Contains(value, "?") {
		value += ".orValue('')"
	}
	if holder, is := strings.CutSuffix(b.chain, ".?name"); is && b.end.rest.copied() {
		is := "=="
		if b.end.to == source {
			is = "!="
		}
		value = fmt.Sprintf("(%s.?kind.orValue('') %s '%s' ? %s : '')", holder, is, claim, value)
	}
	if !b.end.rest.last().open {
		return fmt.Sprintf("'%s/' + %s", b.end.field, value)
	}
	return fmt.Sprintf("[%s].filter(s, type(s) == string).map(s, '%s/' + s).join('')", value, b.end.field)
}

// copied reports whether the path is the name of what a volume is copied from, beside which stands of which kind that is.
func (p path) copied() bool {
	return len(p) > 1 && strings.HasPrefix(p[len(p)-2].name, "dataSource")
}

// counted is an expression on object o, or on an entry of a list: how many entries the lists have that leaves are in.
func counted(from string, leaves []leaf) string {
	var parts []string
	for _, b := range branches(from, leaves) {
		if b.end != nil {
			continue
		}
		entry := next(from)
		nested := func(list string) string {
			count := list + ".size()"
			if inner := counted(entry, b.below); inner != "0" {
				count += fmt.Sprintf(" + %s.map(%s, %s).sum()", list, entry, inner)
			}
			return count
		}
		switch {
		case b.list.isMap:
			parts = append(parts, b.chain+".orValue({}).size()")
		case b.list.open:
			parts = append(parts, fmt.Sprintf("[%s.orValue([])].filter(l, type(l) == list).map(l, %s).sum()", b.chain, nested("l")))
		default:
			parts = append(parts, nested(b.chain+".orValue([])"))
		}
	}
	if len(parts) == 0 {
		return "0"
	}
	if from == "o" {
		return strings.Join(parts, "\n        + ")
	}
	return strings.Join(parts, " + ")
}

// leaves are paths to a kind, seen from an object.
func leaves(to string, paths []path) []leaf {
	var list []leaf
	for _, p := range paths {
		list = append(list, leaf{p.String(), p, to})
	}
	return list
}
