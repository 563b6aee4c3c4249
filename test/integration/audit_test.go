//go:build cluster

package integration

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/example/appservice-operator/test/granted"
	"github.com/example/appservice-operator/test/harness"
	"github.com/example/appservice-operator/tools/kinds"
	"github.com/example/appservice-operator/tools/toolchain"
)

// unseen are the rights that no request shows, and why the operator has them.
var unseen = map[string]string{
	"update appservices/finalizers.app.example.com": "an admission plugin asks for it, TestAnOwnerReferenceNeedsARight",
	"update appjobs/finalizers.app.example.com":     "as for AppServices",
}

// rightsAreThoseUsed compares the rights of the operator with its requests in all tests, by the API server's audit log: no right was missing and,
// if all tests have run, none is unused. Managers of tests that remove rights, or that serve charts of their own, use another account.
func rightsAreThoseUsed(passed bool) bool {
	if cluster.Operator == nil {
		return true // a cluster of the user's own, which keeps no audit log for this
	}
	use, unused, err := compareRights()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cannot compare the rights:", err)
		return false
	}
	forbidden := use.Forbidden
	for _, request := range forbidden {
		fmt.Println("a right was missing:", request)
	}
	if !harness.AllTests() { // a part of the tests does not use all rights
		fmt.Printf("RIGHTS forbidden=%d\n", len(forbidden))
		return len(forbidden) == 0
	}
	for _, right := range unused {
		fmt.Println("not used:", right)
	}
	if !passed {
		return false // a test that ended early has not used its rights
	}
	fmt.Printf("RIGHTS unused_rights=%d forbidden=%d\n", len(unused), len(forbidden))
	return len(unused)+len(forbidden) == 0
}

func compareRights() (use granted.Use, unused []string, err error) {
	shipped, err := granted.WithOptions()
	if err != nil {
		return use, nil, err
	}
	if use, err = audited(); err != nil {
		return use, nil, err
	}
	root, err := toolchain.Root()
	if err != nil {
		return use, nil, err
	}
	others, err := kinds.PublishedKinds(root)
	if err != nil {
		return use, nil, err
	}
	for _, right := range use.Unused(granted.All(shipped.InNamespaces, shipped.Everywhere, shipped.Leading, shipped.Metrics)) {
		resource := right.GroupResource
		resource.Resource, _, _ = strings.Cut(resource.Resource, "/")
		published := slices.ContainsFunc(others, func(kind kinds.PublishedKind) bool { return kind.Resource == resource })
		if unseen[right.String()] == "" && !published { // no test here makes a resource of those
			unused = append(unused, right.String())
		}
	}
	return use, unused, nil
}

// audited reads the API server's audit log of the operator's account.
func audited() (granted.Use, error) {
	log, err := os.Open(cluster.AuditLog)
	if err != nil {
		return granted.Use{}, err
	}
	defer func() { _ = log.Close() }()
	return granted.Read(log)
}
