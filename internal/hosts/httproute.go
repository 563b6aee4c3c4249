package hosts

import (
	"cmp"
	"slices"
	"strings"
)

// httpRoute holds the fields of an HTTPRoute that decide which requests it answers.
type httpRoute struct {
	Metadata struct {
		Namespace string `json:"namespace"`
	} `json:"metadata"`
	Spec struct {
		ParentRefs []parent `json:"parentRefs"`
		Hostnames  []string `json:"hostnames"`
		Rules      []struct {
			Matches []routeMatch `json:"matches"`
		} `json:"rules"`
	} `json:"spec"`
}

type parent struct {
	Kind        string `json:"kind"`
	Namespace   string `json:"namespace"`
	Name        string `json:"name"`
	SectionName string `json:"sectionName"`
	Port        int64  `json:"port"`
}

type routeMatch struct {
	Path struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	} `json:"path"`
	Method      string      `json:"method"`
	Headers     []condition `json:"headers"`
	QueryParams []condition `json:"queryParams"`
}

// condition is a header or a query parameter that a request must have.
type condition struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	Value string `json:"value"`
}

// routeClaims returns the product of gateways, hosts and matches. A route without a gateway answers nothing. A route with more
// combinations than most claims its hosts as a whole: otherwise a few bytes may make tens of thousands of claims.
func routeClaims(route *httpRoute, most int) []Claim {
	if route == nil {
		return nil
	}
	hosts := route.Spec.Hostnames
	if len(hosts) == 0 {
		hosts = []string{""}
	}
	var matches []routeMatch
	for _, rule := range route.Spec.Rules {
		matches = append(matches, rule.Matches...)
		if len(rule.Matches) == 0 {
			matches = append(matches, routeMatch{})
		}
	}
	if len(route.Spec.Rules) == 0 {
		matches = []routeMatch{{}}
	}
	if len(route.Spec.ParentRefs)*len(hosts)*len(matches) > most {
		matches = []routeMatch{{}}
	}
	var list []Claim
	for _, parent := range route.Spec.ParentRefs {
		entry := Entry{
			Kind:     cmp.Or(parent.Kind, "Gateway"),
			Name:     cmp.Or(parent.Namespace, route.Metadata.Namespace) + "/" + parent.Name,
			Listener: parent.SectionName, Port: parent.Port,
		}
		for _, host := range hosts {
			for _, match := range matches {
				list = append(list, Claim{
					Host: strings.ToLower(host), Entry: entry, Path: match.path(), Method: match.Method, Conditions: match.conditions(),
				})
			}
		}
	}
	return list
}

func (m routeMatch) path() Path {
	switch m.Path.Type {
	case "Exact":
		return pathOf(Exact, m.Path.Value)
	case "", "PathPrefix":
		return pathOf(Prefix, m.Path.Value)
	}
	return pathOf(Pattern, m.Path.Value)
}

// conditions returns lines such as "header x-test=1" and "query page~[0-9]", sorted: = for a value, ~ for a pattern.
func (m routeMatch) conditions() string {
	var lines []string
	add := func(what string, list []condition) {
		seen := map[string]bool{}
		for _, c := range list {
			name := c.Name
			if what == "header" {
				name = strings.ToLower(name)
			}
			if seen[name] {
				continue // the first counts
			}
			seen[name] = true
			operator := "="
			if c.Type != "" && c.Type != "Exact" {
				operator = "~"
			}
			lines = append(lines, what+" "+name+operator+c.Value)
		}
	}
	add("header", m.Headers)
	add("query", m.QueryParams)
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
