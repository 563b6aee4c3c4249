package granted

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Right is one verb on one resource.
type Right struct {
	Verb string
	schema.GroupResource
}

// String is as in "patch deployments.apps".
func (r Right) String() string { return r.Verb + " " + r.GroupResource.String() }

// All lists the rights that rules grant, each once, sorted.
func All(rules ...[]rbacv1.PolicyRule) []Right {
	found := map[Right]bool{}
	for _, rule := range slices.Concat(rules...) {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					found[Right{verb, schema.GroupResource{Group: group, Resource: resource}}] = true
				}
			}
		}
	}
	return sorted(found)
}

func sorted(rights map[Right]bool) []Right {
	return slices.SortedFunc(maps.Keys(rights), func(a, b Right) int {
		return cmp.Or(strings.Compare(a.GroupResource.String(), b.GroupResource.String()), strings.Compare(a.Verb, b.Verb))
	})
}

// Use is what an audit log shows of an account.
type Use struct {
	// Used are the rights that its requests needed.
	Used map[Right]bool
	// Forbidden are the requests for which a right was missing.
	Forbidden []string
	// Foreign are the writes that an admission policy took notice of.
	Foreign []string
	// Requests is how many there were.
	Requests int
}

// Unused returns the rights of a list that were not used.
func (u Use) Unused(list []Right) []Right {
	return slices.DeleteFunc(slices.Clone(list), func(right Right) bool { return u.Used[right] })
}

// entry is what is read of an entry of the log.
type entry struct {
	Verb       string
	RequestURI string
	ObjectRef  struct{ APIGroup, Resource, Subresource string }
	Response   struct {
		Code    int
		Message string
	} `json:"responseStatus"`
	Annotations map[string]string
}

// decision is the annotation with what the authorizers said.
const decision = "authorization.k8s.io/decision"

// noticed is the annotation with what admission policies say that do not deny.
const noticed = "validation.policy.admission.k8s.io/validation_failure"

// missing is what the API server says where a right is missing that the verb of the request does not show. Where admission denies something, it
// says so in other words.
var missing = regexp.MustCompile(`cannot \S+ resource "|cannot set blockOwnerDeletion`)

// Read reads an audit log.
func Read(log io.Reader) (Use, error) {
	use := Use{Used: map[Right]bool{}}
	lines := bufio.NewReader(log)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) { // and what is not whole yet is not there yet
			return use, nil
		}
		if err != nil {
			return use, err
		}
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return use, fmt.Errorf("cannot read an entry of the audit log: %w", err)
		}
		use.note(e)
	}
}

func (u *Use) note(e entry) {
	u.Requests++
	resource := schema.GroupResource{Group: e.ObjectRef.APIGroup, Resource: e.ObjectRef.Resource}
	if e.ObjectRef.Subresource != "" {
		resource.Resource += "/" + e.ObjectRef.Subresource
	}
	if said := e.Annotations[noticed]; said != "" {
		u.Foreign = append(u.Foreign, fmt.Sprintf("%s %s (%s): %s", e.Verb, resource, e.RequestURI, said))
	}
	denied := e.Annotations[decision] == "forbid" || e.Response.Code == http.StatusForbidden && missing.MatchString(e.Response.Message)
	switch {
	case denied:
		u.Forbidden = append(u.Forbidden, fmt.Sprintf("%s %s (%s)", e.Verb, resource, e.RequestURI))
	case e.ObjectRef.Resource == "": // discovery, for example
	default:
		u.Used[Right{e.Verb, resource}] = true
		if e.Verb == "patch" && e.Response.Code == http.StatusCreated { // by server-side apply, which needs both
			u.Used[Right{"create", resource}] = true
		}
	}
}
