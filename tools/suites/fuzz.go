package suites

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

var fuzzer = regexp.MustCompile(`(?m)^func (Fuzz[A-Za-z]*)\(`)

// fuzz runs the fuzzers whose file or name matches FUZZ one after the other, until one finds something.
func fuzz(r *runner) error {
	wanted, err := regexp.Compile(parameter("FUZZ", "."))
	if err != nil {
		return fmt.Errorf("cannot use FUZZ: %w", err)
	}
	repository := os.DirFS(r.root)
	visit := func(name string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		source, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		for _, found := range fuzzer.FindAllStringSubmatch(string(source), -1) {
			if !wanted.MatchString(name + ":" + found[0]) {
				continue
			}
			folder := filepath.Dir(name)
			fmt.Printf("==> %s of %s\n", found[1], folder)
			args := words("go test ./" + folder + " -run ^$ -fuzz ^" + found[1] + "$ -fuzzminimizetime 10s -fuzztime " + parameter("FUZZTIME", "1m"))
			if err := (command{args: args, flags: "FUZZFLAGS"}).run(r); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(fs.WalkDir(repository, "api", visit), fs.WalkDir(repository, "internal", visit))
}
