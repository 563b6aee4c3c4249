package lint

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// ExceptionsFile is the file of a chart with its exceptions from rules. The chart's .helmignore should list it.
const ExceptionsFile = ".lint.yaml"

// exception suppresses findings of a rule.
type exception struct {
	Rule string `json:"rule"`
	// About is a substring of the message.
	About string `json:"about"`
	// Reason is why the rule does not apply.
	Reason string `json:"reason"`
}

type exceptions []exception

func readExceptions(files fs.FS, dir string) (exceptions, error) {
	text, err := fs.ReadFile(files, path.Join(dir, ExceptionsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list exceptions
	if err == nil {
		err = yaml.UnmarshalStrict(text, &list)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ExceptionsFile, err)
	}
	for i, each := range list {
		if each.About == "" || each.Reason == "" ||
			!slices.ContainsFunc(Rules, func(r Rule) bool { return r.ID == each.Rule }) {
			return nil, fmt.Errorf("%s: entry %d: requires the id of a rule, about (a part of its message) and a reason",
				ExceptionsFile, i+1)
		}
	}
	return list, nil
}

// from returns the findings that no exception matches. If stale is set, it adds a finding for each exception that
// matches nothing.
func (e exceptions) from(found findings, stale bool) findings {
	used := make([]bool, len(e))
	left := slices.DeleteFunc(found, func(f Finding) bool {
		excepted := false
		for i, each := range e {
			if each.Rule == f.ID && strings.Contains(f.Message, each.About) {
				used[i], excepted = true, true
			}
		}
		return excepted
	})
	for i, each := range e {
		if stale && !used[i] {
			left.add(Finding{
				Rule: ruleOf(ruleStaleException), File: ExceptionsFile,
				Message: fmt.Sprintf("nothing breaks the rule %s about %q: remove the exception", each.Rule, each.About),
			})
		}
	}
	return left
}
