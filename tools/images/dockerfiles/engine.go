package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// engineFolder is the variable with the suite's folder. If it is set, this program takes docker's place.
const engineFolder = "DOCKERFILES_ENGINE"

// engine runs the buildah commands that correspond to the arguments of docker.
func engine(folder string, args []string) error {
	volumes, err := mounts(folder)
	if err != nil {
		return err
	}
	commands, err := translate(folder, volumes, args)
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

// translate returns the arguments of the buildah commands that correspond to the arguments of docker.
func translate(folder string, volumes, args []string) ([][]string, error) {
	at := func(name string) string { return filepath.Join(folder, name) }
	global := []string{
		"--root", at("storage"), "--runroot", at("run"), "--storage-driver", "vfs",
		"--registries-conf", at("registries.conf"), "--registries-conf-dir", at("registries.d"),
	}
	buildah := func(args ...string) []string { return append(append([]string{}, global...), args...) }
	build := buildah("build", "--isolation", "chroot", "--identity-label=false", "--signature-policy", at("policy.json"),
		"--build-arg", "BUILDPLATFORM="+runtime.GOOS+"/"+runtime.GOARCH) // docker sets it by itself
	for _, volume := range volumes {
		build = append(build, "--volume", volume)
	}
	switch {
	case len(args) > 1 && args[0] == "build":
		return [][]string{append(build, args[1:]...)}, nil
	case len(args) == 2 && args[0] == "push":
		return [][]string{buildah("push", "--signature-policy", at("policy.json"), args[1], "docker://"+args[1])}, nil
	case len(args) > 1 && args[0] == "buildx" && args[1] == "inspect":
		return nil, nil // the builder is there
	case len(args) > 1 && args[0] == "buildx" && args[1] == "build":
		return buildx(build, buildah("manifest", "push", "--all", "--signature-policy", at("policy.json")), args[2:])
	}
	return nil, fmt.Errorf("docker %q has no counterpart here", args)
}

// buildx builds a list of images and pushes it.
func buildx(build, push, args []string) ([][]string, error) {
	var tag string
	pushed := false
	for i := 0; i < len(args); i++ {
		switch last := i == len(args)-1; {
		case args[i] == "--push":
			pushed = true
		case args[i] == "--builder" && !last:
			i++
		case args[i] == "--tag" && !last:
			i++
			tag = args[i]
			build = append(build, "--manifest", tag)
		default:
			build = append(build, args[i])
		}
	}
	if tag == "" || !pushed {
		return nil, fmt.Errorf("docker buildx %q has no counterpart here: --tag or --push is missing", args)
	}
	return [][]string{build, append(push, tag, "docker://"+tag)}, nil
}
