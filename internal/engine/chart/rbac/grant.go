package rbac

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	v1 "github.com/example/appservice-operator/api/v1"
	"github.com/example/appservice-operator/internal/engine/text"
)

// granting are the words with which the API server refuses a role, or a binding to one, with rights that its writer
// does not have; the missing rules follow.
const granting = "attempting to grant RBAC permissions not currently held"

// held matches a missing rule in that message.
var held = regexp.MustCompile(`\{[^{}]*Verbs:\[[^{}]*\}`)

// GrantError reports a rendered role, or a binding, with rights that the operator does not have.
type GrantError struct {
	// Resource and Name identify the refused object.
	Resource, Name string
	// Rules are those that the operator lacks, as the API server writes them.
	Rules []string
	// Option is the name by which an installation requests what the chart needs; empty if there is none.
	Option string
	// Err is the API server's answer.
	Err error
}

// maxRules is how many of the missing rules a message lists.
const maxRules = 1

func (e *GrantError) Error() string {
	return fmt.Sprintf("%s %q: the operator is %s: %s", e.Resource, e.Name, granting,
		strings.Join(text.First(e.Rules, maxRules), " "))
}

// Unwrap returns the API server's answer.
func (e *GrantError) Unwrap() error { return e.Err }

// Reason returns the reason of Ready.
func (e *GrantError) Reason() string { return v1.ReasonMissingRights }

// Hint returns how the operator gets the rights.
func (e *GrantError) Hint() string {
	if e.Option != "" {
		return fmt.Sprintf("install the operator with the right %s (%s/%s). It has no rule with *: for these, make kind writes the verbs escalate and bind on the roles of its NAMES to grants of watches.yaml",
			e.Option, OptionFolder, e.Option)
	}
	verb := "escalate"
	if strings.HasSuffix(e.Resource, "bindings") {
		verb = "bind"
	}
	return fmt.Sprintf("ask the platform team to add these rules to the operator's role (%s, %s): %s. The verb %s on the role would do, too, but lets whoever writes the chart grant any right",
		RoleFile, ClusterRoleFile, strings.Join(e.Rules, " "), verb)
}

// grant returns the error for a role that grants more than the operator may; nil for any other error.
func grant(err error) *GrantError {
	var answer apierrors.APIStatus
	if !apierrors.IsForbidden(err) || !errors.As(err, &answer) || answer.Status().Details == nil {
		return nil
	}
	_, rules, found := strings.Cut(answer.Status().Message, granting)
	if !found {
		return nil
	}
	about := answer.Status().Details
	return &GrantError{Resource: about.Kind, Name: about.Name, Rules: held.FindAllString(rules, -1), Err: err}
}
