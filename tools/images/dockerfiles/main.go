// Program dockerfiles runs the Dockerfiles of the repository with buildah, as they are, through the make targets that build and
// push images: "make test-images". It compares each image with what it has to hold; the last line sums up.
//
// No registry is asked but one on the loopback address, which this program serves: it has stand-ins for the base images, made
// of files (package images), under the names that the Dockerfiles have, and takes the images and the chart that make pushes.
// Go, its modules and what it has compiled are mounted while a Dockerfile runs.
//
// -run narrows it to the checks whose names match a regular expression.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"syscall"
	"time"
)

func main() {
	if folder := os.Getenv(engineFolder); folder != "" { // make runs this program in docker's place
		if err := engine(folder, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "dockerfiles:", err)
			os.Exit(1)
		}
		return
	}
	pattern := flag.String("run", "", "run only the checks whose names match this regular expression")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Stdout, *pattern)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dockerfiles:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer, pattern string) error {
	wanted, err := regexp.Compile(pattern)
	if err != nil {
		return err
	}
	if err := ensureBuildah(ctx, out); err != nil {
		return err
	}
	s := &suite{out: out}
	if s.root, err = filepath.Abs(filepath.Join("..", "..")); err != nil {
		return err
	}
	if s.folder, err = os.MkdirTemp("", "appservice-dockerfiles-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(s.folder) }()
	stop, err := s.serve()
	if err != nil {
		return err
	}
	defer stop()
	if err := s.configure(ctx); err != nil {
		return err
	}
	passed, failed := 0, 0
	for _, c := range checks() {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !wanted.MatchString(c.name) {
			continue
		}
		start := time.Now()
		err := c.do(ctx, s)
		took := time.Since(start).Round(100 * time.Millisecond)
		if err != nil {
			failed++
			_, _ = fmt.Fprintf(out, "FAIL %s (%s): %v\n", c.name, took, err)
			continue
		}
		passed++
		_, _ = fmt.Fprintf(out, "ok   %s (%s)\n", c.name, took)
	}
	_, _ = fmt.Fprintf(out, "IMAGES passed=%d failed=%d\n", passed, failed)
	if failed > 0 || passed == 0 {
		return fmt.Errorf("%d checks passed, %d failed", passed, failed)
	}
	return nil
}

// ensureBuildah installs buildah where it is missing and that can be done.
func ensureBuildah(ctx context.Context, out io.Writer) error {
	if _, err := exec.LookPath("buildah"); err == nil {
		return nil
	}
	const remedy = "install buildah: apt-get install --no-install-recommends buildah"
	if os.Geteuid() != 0 {
		return errors.New("there is no buildah, and only root can install it: " + remedy)
	}
	_, _ = fmt.Fprintln(out, "Installing buildah.")
	install := exec.CommandContext(ctx, "apt-get", "install", "--yes", "--no-install-recommends", "buildah")
	install.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if output, err := install.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot install buildah: %w: %s: %s", err, tail(output), remedy)
	}
	return nil
}

// tail returns the end of what a program wrote.
func tail(output []byte) string {
	const most = 2000
	if len(output) > most {
		output = output[len(output)-most:]
	}
	return string(output)
}
