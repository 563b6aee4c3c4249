package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/example/appservice-operator/tools/poll"
)

// group is the name of the control group that the node's pods are in.
func (i *instance) group() string { return "appservice-" + i.name }

// groupRoots returns the folders in which control groups are made: one, or one for each controller under version 1.
func groupRoots() ([]string, error) {
	const mount = "/sys/fs/cgroup"
	if _, err := os.Stat(filepath.Join(mount, "cgroup.procs")); err == nil {
		return []string{mount}, nil
	}
	controllers, err := filepath.Glob(filepath.Join(mount, "*", "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var roots []string
	for _, file := range controllers {
		roots = append(roots, filepath.Dir(file))
	}
	return roots, nil
}

// makeGroups makes the control groups that the kubelet expects.
func (i *instance) makeGroups() error {
	roots, err := groupRoots()
	if err != nil {
		return err
	}
	for _, root := range roots {
		group := filepath.Join(root, i.group())
		if err := os.Mkdir(group, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("cannot make a control group: %w", err)
		}
		// A group has the controllers of version 2 that the one above passes on. Not all machines let us decide.
		if controllers, err := os.ReadFile(filepath.Join(root, "cgroup.controllers")); err == nil {
			for _, controller := range strings.Fields(string(controllers)) {
				_ = os.WriteFile(filepath.Join(root, "cgroup.subtree_control"), []byte("+"+controller), 0o644)
			}
		}
		// A new group of the cpuset controller, version 1, has no processors and no memory, and takes no process.
		for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
			value, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				continue
			}
			if err := os.WriteFile(filepath.Join(group, name), value, 0o644); err != nil {
				return fmt.Errorf("cannot set up a control group: %w", err)
			}
		}
	}
	return nil
}

// removeGroups removes the control groups. They are busy until their last process has ended.
func (i *instance) removeGroups(ctx context.Context) error {
	roots, err := groupRoots()
	if err != nil {
		return err
	}
	return poll.UntilWithin(ctx, patience, func(context.Context) error {
		for _, root := range roots {
			if err := removeGroup(filepath.Join(root, i.group())); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeGroup removes a control group and those below. Their files go with them.
func removeGroup(group string) error {
	children, err := os.ReadDir(group)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, child := range children {
		if child.IsDir() {
			if err := removeGroup(filepath.Join(group, child.Name())); err != nil {
				return err
			}
		}
	}
	if err := syscall.Rmdir(group); err != nil && !errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("cannot remove control group %s: %w", group, err)
	}
	return nil
}
