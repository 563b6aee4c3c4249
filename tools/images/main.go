// Program images builds container images from files: no container engine, no registry, no root. See "go run -C
// tools/images . -h".
//
// An image is a list of layers and a configuration, both made here: Go programs are compiled, packages of Debian are
// unpacked. No time, no user name and no path of this machine goes into an image, so the same sources and the same Go
// always yield the same digest. The archives are of the kind that docker, podman, containerd and kind load.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
)

const usage = `usage: go run -C tools/images . [-arch ARCH] [-version VERSION] [-tag NAME:TAG] [-source DIR] -out FILE IMAGE

Writes an image for Linux as an archive. Relative paths start in tools/images. IMAGE is one of:

  manager    the operator, as the Dockerfile makes it
  pause      what holds the namespaces of a pod
  web        the web server of the end-to-end test
  scorecard  the scorecard tests of this repository
  charts     the charts that the operator serves, for an image volume
  program    the static program in -file, for Linux and the same processor
  nginx      nginx of Debian, for which apt-get and dpkg-deb are needed
  busybox    busybox of Debian, likewise

Stand-ins for the base images of the Dockerfiles, for tests (tools/images/dockerfiles):

  static     gcr.io/distroless/static:nonroot
  golang     golang, a shell without Go: the folder of Go is mounted at /usr/local/go
  opm        quay.io/operator-framework/opm, with the program in -file
`

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// request is what the command line requests.
type request struct {
	image, arch, version, tag, out string
	source                         string // the folder of the repository to compile
	file                           string // the program of image program
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	var wanted request
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() { _, _ = io.WriteString(stderr, usage); flags.PrintDefaults() }
	flags.StringVar(&wanted.arch, "arch", runtime.GOARCH, "the processor that the image is for")
	flags.StringVar(&wanted.version, "version", "dev", "the version of the operator, for the manager's image")
	flags.StringVar(&wanted.tag, "tag", "", "the name and tag of the image, the image's own if empty")
	flags.StringVar(&wanted.out, "out", "", "the archive to write")
	flags.StringVar(&wanted.source, "source", root, "the folder of the repository, which may be one of another commit")
	flags.StringVar(&wanted.file, "file", "", "the program that the images program and opm hold")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 1 || wanted.out == "" {
		return fmt.Errorf("cannot guess what to do: name one image and -out, see -h")
	}
	wanted.image = flags.Arg(0)
	if wanted.file == "" && (wanted.image == "program" || wanted.image == "opm") {
		return fmt.Errorf("cannot build image %s: -file names no program", wanted.image)
	}
	return save(ctx, wanted, stdout)
}

// save builds an image and writes its archive. An incomplete file never has the archive's name.
func save(ctx context.Context, wanted request, stdout io.Writer) error {
	built, err := lookUp(ctx, wanted)
	if err != nil {
		return fmt.Errorf("cannot build image %s: %w", wanted.image, err)
	}
	if wanted.tag == "" {
		wanted.tag = built.tag
	}
	tag, err := name.NewTag(wanted.tag)
	if err != nil {
		return fmt.Errorf("cannot tag image %s: %w", wanted.image, err)
	}
	image, err := built.image(wanted.arch)
	if err != nil {
		return fmt.Errorf("cannot build image %s: %w", wanted.image, err)
	}
	partial := wanted.out + ".partial"
	defer func() { _ = os.Remove(partial) }()
	if err := tarball.WriteToFile(partial, tag, image); err != nil {
		return fmt.Errorf("cannot write %s: %w", wanted.out, err)
	}
	digest, err := image.Digest()
	if err != nil {
		return err
	}
	info, err := os.Stat(partial)
	if err == nil {
		err = os.Rename(partial, wanted.out)
	}
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(stdout, "%s: %s, linux/%s, %.1f MB, %s\n",
		wanted.out, wanted.tag, wanted.arch, float64(info.Size())/1e6, digest)
	return err
}
