package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// objectsEach is how many objects the chart renders for an AppService of the benchmark: Deployment, Service, Ingress.
const objectsEach = 3

// settings are those of the environment.
type settings struct {
	n       int             // AppServices
	pods    int             // of each AppService
	rounds  int             // each contender works once in each of them
	letters string          // letters of those that take part
	skip    map[string]bool // phases to leave out
	out     string          // folder for benchmarks.md, empty for bin/bench
	docs    bool            // publish the results in docs
	reuse   string          // results of an earlier run, for the stock peers
	profile bool            // write profiles of the operator instead of results
	guards  bool            // with the policies of config/admission
	cluster string
}

// phases that SKIP may name. Install and delete cannot be left out.
var phases = []string{"alone", "idle", "noop", "image", "toggle", "drift", "change", "restart", "chart"}

func fromEnvironment() (settings, error) {
	s := settings{n: 200, rounds: 1, letters: "abcdef", skip: map[string]bool{}, cluster: os.Getenv("CLUSTER_NAME")}
	s.out, s.reuse, s.docs = os.Getenv("OUT"), os.Getenv("REUSE"), os.Getenv("DOCS") != ""
	s.guards = os.Getenv("ADMISSION") != ""
	if os.Getenv("PROFILE") != "" {
		s.profile, s.letters = true, "e"
		for _, name := range phases {
			if name != "noop" && name != "image" {
				s.skip[name] = true
			}
		}
	}
	if s.cluster == "" {
		s.cluster = "appservice-bench"
	}
	if value := os.Getenv("N"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 10000 {
			return s, fmt.Errorf("cannot use N=%s: must be a number from 1 to 10000", value)
		}
		s.n = n
	}
	if s.docs {
		s.rounds = 3
	}
	if value := os.Getenv("PODS"); value != "" {
		pods, err := strconv.Atoi(value)
		if err != nil || pods < 0 || pods > 10 {
			return s, fmt.Errorf("cannot use PODS=%s: must be a number from 0 to 10", value)
		}
		s.pods = pods
	}
	if value := os.Getenv("ROUNDS"); value != "" {
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n%2 == 0 {
			return s, fmt.Errorf("cannot use ROUNDS=%s: must be an odd number, since figures are medians", value)
		}
		s.rounds = n
	}
	if value := os.Getenv("CONTENDERS"); value != "" {
		s.letters = strings.NewReplacer(",", "", " ", "").Replace(value)
	}
	for _, letter := range s.letters {
		if !strings.ContainsRune("abcdef", letter) {
			return s, fmt.Errorf("cannot use CONTENDERS=%s: letters are a to f", s.letters)
		}
	}
	for _, name := range strings.FieldsFunc(os.Getenv("SKIP"), func(r rune) bool { return r == ',' || r == ' ' }) {
		if !slices.Contains(phases, name) {
			return s, fmt.Errorf("cannot skip %q: phases are %s", name, strings.Join(phases, ", "))
		}
		s.skip[name] = true
	}
	if s.docs && (s.profile || !s.complete()) {
		return s, errors.New("cannot use DOCS: only complete runs are published, with N=200, three rounds, all contenders and all phases")
	}
	return s, nil
}

// complete reports whether the run is one to be published: all contenders take part in all parts. The peers have no policies, so none has.
func (s settings) complete() bool {
	return s.letters == "abcdef" && len(s.skip) == 0 && s.n == 200 && s.pods == 0 && s.rounds > 1 && !s.guards
}

// outFolder is the folder for benchmarks.md. An unpublished run changes no file of the repository.
func (b *bench) outFolder() string {
	switch {
	case b.settings.out != "":
		return b.settings.out
	case b.docs:
		return filepath.Join(b.root, "docs")
	default:
		return filepath.Join(b.root, "bin", "bench")
	}
}

func (b *bench) command() string {
	command := "make bench"
	if b.n != 200 {
		command += fmt.Sprintf(" N=%d", b.n)
	}
	if b.pods != 0 {
		command += fmt.Sprintf(" PODS=%d", b.pods)
	}
	if b.rounds != 1 {
		command += fmt.Sprintf(" ROUNDS=%d", b.rounds)
	}
	if b.letters != "abcdef" {
		command += " CONTENDERS=" + b.letters
	}
	if len(b.skip) > 0 {
		command += " SKIP=" + strings.Join(slices.Sorted(maps.Keys(b.skip)), ",")
	}
	if b.guards {
		command += " ADMISSION=1"
	}
	if b.reuse != "" {
		command += " REUSE=" + b.reuse
	}
	return command
}

// patience is how long a phase may take, which the slowest contender hardly needs.
func (b *bench) patience() time.Duration { return time.Minute + time.Duration(b.n)*time.Second }
