package dockerfiles

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// engineFolder is the variable with the suite's folder. If it is set, this program takes docker's place.
const engineFolder = "DOCKERFILES_ENGINE"

// engine runs the buildah commands that correspond to the arguments of docker.
func engine(folder string, args []string) error {
	flags, err := os.ReadFile(filepath.Join(folder, "flags"))
	if err != nil {
		return err
	}
	commands, err := translate(folder, strings.Split(string(flags), "\n"), args)
	if err != nil {
		return err
	}
	for _, args := range commands {
		command := exec.Command("buildah", args...)
		command.Stdout, command.Stderr = os.Stdout, os.Stderr
		if err := command.Run(); err != nil {
			return fmt.Errorf("buildah %q: %w", args, err)
		}
	}
	return nil
}

// translate returns the arguments of the buildah commands that correspond to the arguments of docker. The flags are for
// those that build.
func translate(folder string, flags, args []string) ([][]string, error) {
	at := func(name string) string { return filepath.Join(folder, name) }
	buildah := func(args ...string) []string {
		return append([]string{
			"--root", at("storage"), "--runroot", at("run"), "--storage-driver", "vfs",
			"--registries-conf", at("registries.conf"), "--registries-conf-dir", at("registries.d"),
		}, args...)
	}
	policy := "--signature-policy=" + at("policy.json")
	build := buildah("build", "--isolation", "chroot", "--identity-label=false", policy,
		"--build-arg", "BUILDPLATFORM="+runtime.GOOS+"/"+runtime.GOARCH) // docker sets it automatically
	build = append(build, flags...)
	switch {
	case len(args) > 1 && args[0] == "build":
		return [][]string{append(build, args[1:]...)}, nil
	case len(args) == 2 && args[0] == "push":
		return [][]string{buildah("push", policy, args[1], "docker://"+args[1])}, nil
	case len(args) > 1 && args[0] == "buildx" && args[1] == "inspect":
		return nil, nil // the builder is there
	case len(args) > 5 && slices.Equal(args[:3], []string{"buildx", "build", "--builder"}) && slices.Contains(args, "--push"):
		if at := slices.Index(args, "--tag"); at > 0 && at < len(args)-1 { // it is that of a list of images
			list := slices.DeleteFunc(slices.Clone(args[4:]), func(arg string) bool { return arg == "--push" })
			list[slices.Index(list, "--tag")] = "--manifest"
			return [][]string{
				append(build, list...), buildah("manifest", "push", "--all", policy, args[at+1], "docker://"+args[at+1]),
			}, nil
		}
	}
	return nil, fmt.Errorf("docker %q has no counterpart here", args)
}

func TestTranslate(t *testing.T) {
	for args, want := range map[string][]string{ // how each command of buildah ends
		"build --tag a:1 .": {"--volume=/go:/go --tag a:1 ."},
		"push a:1":          {"a:1 docker://a:1"},
		"buildx inspect b":  {},
		"buildx build --builder b --platform linux/arm64 --tag a:1 --push .": {
			"--volume=/go:/go --platform linux/arm64 --manifest a:1 .", "a:1 docker://a:1",
		},
	} {
		got, err := translate("/folder", []string{"--volume=/go:/go"}, strings.Fields(args))
		if err != nil || len(got) != len(want) {
			t.Fatalf("%s: got %q and error %v, want %d commands", args, got, err, len(want))
		}
		for i := range want {
			if line := strings.Join(got[i], " "); !strings.HasSuffix(line, want[i]) {
				t.Errorf("%s: got %q, want an end like %q", args, line, want[i])
			}
		}
	}
	for _, args := range []string{
		"", "run x", "buildx build --builder b --tag a:1 .", "buildx build --builder b --push .",
	} {
		if got, err := translate("/folder", nil, strings.Fields(args)); err == nil {
			t.Errorf("%q became %q", args, got)
		}
	}
}
