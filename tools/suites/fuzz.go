package suites

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

// fuzz runs the fuzzers whose file or name matches FUZZ one after the other, until one finds something.
func fuzz(r *runner) error {
	wanted, err := regexp.Compile(parameter("FUZZ", "."))
	if err != nil {
		return fmt.Errorf("cannot use FUZZ: %w", err)
	}
	all, err := git(r.root, "grep", "--untracked", "^func Fuzz", "--", "api/*_test.go", "internal/*_test.go")
	if err != nil {
		return fmt.Errorf("cannot list the fuzzers: %w", err)
	}
	for line := range strings.Lines(all) { // FILE:func NAME(f *testing.F) {
		file, function, _ := strings.Cut(line, ":func ")
		name, _, _ := strings.Cut(function, "(")
		if !wanted.MatchString(file + ":" + name) {
			continue
		}
		fmt.Printf("==> %s of %s\n", name, path.Dir(file))
		args := words("go test ./" + path.Dir(file) + " -run ^$ -fuzz ^" + name + "$ -fuzzminimizetime 10s -fuzztime " + parameter("FUZZTIME", "1m"))
		if err := (command{args: args, flags: "FUZZFLAGS"}).run(r); err != nil {
			return err
		}
	}
	return nil
}
