package references

import (
	"strings"
)

// path is a field and those above it, the outermost first.
type path []*node

// String is the path as people write it, as in spec.sidecars[].env[].valueFrom.secretKeyRef.name.
func (p path) String() string {
	var out strings.Builder
	for _, n := range p {
		if n.name != "" && out.Len() > 0 {
			out.WriteByte('.')
		}
		out.WriteString(n.name)
		if n.each != nil {
			out.WriteString("[]")
		}
	}
	return out.String()
}

func (p path) last() *node { return p[len(p)-1] }

// walk calls a function for a node and all below it.
func (p path) walk(visit func(path)) {
	visit(p)
	n := p.last()
	if n.each != nil {
		append(p[:len(p):len(p)], n.each).walk(visit)
	}
	for _, field := range n.fields {
		append(p[:len(p):len(p)], field).walk(visit)
	}
}

// noun is what a field names, by its own name or, if that is "name", by that of the field above it.
func (p path) noun() string {
	noun := ""
	for i := len(p) - 1; i >= 0 && (noun == "" || noun == "name"); i-- {
		if p[i].name != "" {
			if noun = p[i].name; p[i].each != nil {
				noun = strings.TrimSuffix(noun, "s")
			}
		}
	}
	for _, end := range []string{"Name", "Ref", "Key", "From"} {
		noun = strings.TrimSuffix(noun, end)
	}
	return strings.ToLower(noun)
}

// refersTo returns the kinds of object that a field may name; none if it names nothing.
func (p path) refersTo() []string {
	if p.last().typ != "string" {
		return nil
	}
	noun := p.noun()
	for _, kind := range kinds {
		if kind.group == "" && strings.HasSuffix(noun, strings.ToLower(kind.name)) {
			return []string{kind.name}
		}
	}
	switch {
	case strings.HasSuffix(noun, "volumeclaim"), p.last().name == "claimName":
		return []string{claim}
	case p.last().name == "resourceClaimName":
		return []string{resourceClaim}
	case p.last().name == "resourceClaimTemplateName": // entries of resourceClaims have names of their own besides
		return []string{resourceClaimTemplate}
	case noun == "datasource" && p.last().name == "name":
		return []string{claim, source}
	case p.last().name == "volumeName" && len(p) > 2 && p[len(p)-3].name == "volumeClaimTemplate":
		return []string{source}
	}
	return nil
}

// inPods are the ends of paths whose objects' content pods can read.
var inPods = []string{
	".valueFrom.secretKeyRef.name", ".valueFrom.configMapKeyRef.name", "nvFrom[].secretRef.name", "nvFrom[].configMapRef.name",
	"olumes[].secret.secretName", "olumes[].configMap.name", "olumes[].projected.sources[].secret.name", "olumes[].projected.sources[].configMap.name",
}

// pods reports whether pods can read the content of what the field names.
func (p path) pods() bool {
	for _, end := range inPods {
		if strings.HasSuffix(p.String(), end) {
			return true
		}
	}
	return false
}
