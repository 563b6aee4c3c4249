package harness

import "strings"

// Target is what a request is about.
type Target struct {
	Namespace, Resource, Name, Subresource string
}

// String is the resource with its name, as in "deployments/web" or "appservices/web/status".
func (t Target) String() string {
	text := t.Resource
	for _, part := range []string{t.Name, t.Subresource} {
		if part != "" {
			text += "/" + part
		}
	}
	return text
}

// Target reads from the path what a request is about. The name of an object that is created by POST is in the body only.
func (r Request) Target() Target {
	parts := strings.Split(strings.Trim(r.Path, "/"), "/")
	skip := 2 // api/v1
	if parts[0] == "apis" {
		skip = 3
	}
	if len(parts) <= skip {
		return Target{}
	}
	parts = parts[skip:]
	var t Target
	if parts[0] == "namespaces" && len(parts) > 2 {
		t.Namespace, parts = parts[1], parts[2:]
	}
	for i, field := range []*string{&t.Resource, &t.Name, &t.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	return t
}
