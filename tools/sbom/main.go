// Program sbom writes what a Go program is made of, as SPDX and as CycloneDX, both in JSON: the modules that its build information
// names, and Go's own library. The same program yields the same files.
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// subject is what is described.
type subject struct {
	name, version string
	sum           [sha256.Size]byte // of the program
	created       time.Time
	main          module
	modules       []module // all others
}

// module is a module, in the version that was compiled.
type module struct{ path, version, sum string }

// purl is the name that scanners know a module by.
func (m module) purl() string {
	return "pkg:golang/" + strings.ReplaceAll(strings.ToLower(m.path), "!", "") + "@" + strings.ReplaceAll(m.version, "+", "%2B")
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("sbom", flag.ContinueOnError)
	name := flags.String("name", "appservice-operator", "the name of what is described")
	version := flags.String("version", "dev", "its version")
	created := flags.Int64("created", 0, "when the sources are from, in seconds since 1970")
	out := flags.String("out", "", "what the names of the files begin with")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || *out == "" {
		return fmt.Errorf("cannot guess what to do: name one Go program and -out")
	}
	described, err := read(flags.Arg(0))
	if err != nil {
		return err
	}
	described.name, described.version, described.created = *name, *version, time.Unix(*created, 0).UTC()
	described.main.version = "v" + *version
	for suffix, write := range map[string]func(io.Writer, *subject) error{".spdx.json": writeSPDX, ".cdx.json": writeCycloneDX} {
		if err := save(*out+suffix, described, write); err != nil {
			return err
		}
	}
	fmt.Printf("Wrote %s.spdx.json and %s.cdx.json: %d modules.\n", *out, *out, len(described.modules)+1)
	return nil
}

// read reads the build information of a program.
func read(program string) (*subject, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, fmt.Errorf("%s is not a Go program: %w", program, err)
	}
	content, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	s := &subject{sum: sha256.Sum256(content), main: of(&info.Main)}
	for _, dependency := range info.Deps {
		s.modules = append(s.modules, of(dependency))
	}
	goVersion, _, _ := strings.Cut(info.GoVersion, " ") // experiments may follow
	s.modules = append(s.modules, module{path: "stdlib", version: strings.TrimPrefix(goVersion, "go")})
	slices.SortFunc(s.modules, func(a, b module) int { return strings.Compare(a.path, b.path) })
	return s, nil
}

func of(m *debug.Module) module {
	if m.Replace != nil {
		m = m.Replace
	}
	return module{m.Path, m.Version, m.Sum}
}

func save(file string, s *subject, write func(io.Writer, *subject) error) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	if err := write(out, s); err != nil {
		out.Close()
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	return out.Close()
}
