package ingressroute

import (
	"cmp"
	"regexp"
	"strings"

	v1 "github.com/example/appservice-operator/api/v1"
)

// tail is a path that ends with a group for the rest of it, the second or the first of its groups.
var tail = regexp.MustCompile(`^(/[-A-Za-z0-9/._~]*?)/?(?:\(/\|\$\)\(\.\*\)|\(/\|/\$\)\(\.\*\)|/?\??\(\.\*\))$`)

// rewriteTarget converts the path that requests are sent with. A target that ends with the group for the rest of the
// path replaces the part before it.
func rewriteTarget(c *conversion, name, target string) {
	c.each(func(rule *v1.RouteRule) {
		if len(rule.Matches) == 0 {
			rule.Rewrite = &v1.RouteRewrite{Path: target}
			return
		}
		match := &rule.Matches[0]
		switch before, group, found := strings.Cut(target, "$"); {
		case !found && match.PathType != "RegularExpression":
			rule.Rewrite = &v1.RouteRewrite{Path: target}
		case found && rest(match.Path, group):
			match.Path, match.PathType = cmp.Or(tail.FindStringSubmatch(match.Path)[1], "/"), "PathPrefix"
			if prefix := cmp.Or(strings.TrimSuffix(before, "/"), "/"); prefix != match.Path {
				rule.Rewrite = &v1.RouteRewrite{Prefix: prefix}
			}
		default:
			c.note("spec.route.rules", "path %s with %s%s %s has no equal: requests keep their path; write matches and rewrite by hand",
				match.Path, prefix, name, target)
		}
	})
}

// rest reports whether a group is the last of a path, and stands for the rest of it.
func rest(path, group string) bool {
	return tail.MatchString(path) && group == map[int]string{1: "1", 2: "2"}[strings.Count(path, "(")]
}
