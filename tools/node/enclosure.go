package node

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/example/appservice-operator/tools/processes"
)

// first is the name of the first process of a node.
const first = "init"

// enclose starts the first process of the node in namespaces of its own and connects these to the machine.
func (i *instance) enclose(ctx context.Context) error {
	if err := os.Symlink("/bin/sh", i.path("bin", first)); err != nil {
		return err
	}
	command := exec.Command("unshare", "--net", "--pid", "--mount", "--fork", "--mount-proc", "--propagation", "private",
		"--", i.path("bin", first), i.path("init.sh"), i.dir)
	if err := i.detach(command, first); err != nil {
		return err
	}
	err := i.until(ctx, func(context.Context) error { _, err := os.Stat(i.path("ready")); return err })
	if err != nil {
		return fmt.Errorf("cannot make namespaces: %w", err)
	}
	return i.connect(ctx)
}

// pid returns the number of the node's first process.
func (i *instance) pid(ctx context.Context) (string, error) {
	running, err := processes.Of(ctx, i.dir)
	if err != nil {
		return "", err
	}
	if len(running[first]) == 0 {
		return "", errors.New("its first process has ended")
	}
	return strconv.Itoa(running[first][0]), nil
}

// inside returns a command that runs in the node's namespaces. It does not end with this process.
func (i *instance) inside(ctx context.Context, program string, args ...string) (*exec.Cmd, error) {
	pid, err := i.pid(ctx)
	if err != nil {
		return nil, err
	}
	return exec.Command("nsenter", append([]string{"--target", pid, "--net", "--pid", "--mount", "--", program}, args...)...), nil
}

// detach starts a process that lives on when this one ends. Its output goes to a file in the folder for logs.
func (i *instance) detach(command *exec.Cmd, name string) error {
	command.Dir = "/"
	child, err := processes.Detach(command, i.log(name))
	if err != nil {
		return err
	}
	ended := i.ended
	go func() {
		<-child.Ended()
		ended <- name
	}()
	return nil
}

// link is the connection between a node and the machine, a network of two addresses.
type link struct {
	name       string // of the machine's end
	host, node netip.Addr
}

// linkOf returns the link of a node. It depends on the name alone, so a kubeconfig stays valid.
func linkOf(name string) link {
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(name)) // it cannot fail
	// 198.18.0.0/15 is reserved for tests of networks, so no host has such an address. It has 2^15 networks of 4.
	base := uint32(198)<<24 | uint32(18)<<16 | (hash.Sum32()&(1<<15-1))<<2
	address := func(n uint32) netip.Addr {
		return netip.AddrFrom4([4]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
	}
	return link{name: fmt.Sprintf("node-%08x", hash.Sum32()), host: address(base + 1), node: address(base + 2)}
}

// connect makes the link and sets the addresses of its ends.
func (i *instance) connect(ctx context.Context) error {
	pid, err := i.pid(ctx)
	if err != nil {
		return err
	}
	l := linkOf(i.name)
	inside := []string{"nsenter", "--target", pid, "--net", "ip"}
	for _, args := range [][]string{
		{"ip", "link", "add", l.name, "type", "veth", "peer", "name", "eth0", "netns", pid},
		{"ip", "address", "add", l.host.String() + "/30", "dev", l.name},
		{"ip", "link", "set", l.name, "up"},
		append(inside, "address", "add", l.node.String()+"/30", "dev", "eth0"),
		append(inside, "link", "set", "eth0", "up"),
		// Addresses of Services are translated on their way out, so there has to be a way. There is none to elsewhere.
		append(inside, "route", "add", serviceNetwork, "dev", "eth0"),
	} {
		if _, err := processes.Output(exec.CommandContext(ctx, args[0], args[1:]...)); err != nil {
			return fmt.Errorf("cannot connect the node: %w", err)
		}
	}
	return nil
}

// disconnect deletes the link. The kernel deletes it, too, when the node has ended, but not at once.
func (i *instance) disconnect(ctx context.Context) error {
	name := linkOf(i.name).name
	there := func() bool { _, err := os.Stat(filepath.Join("/sys/class/net", name)); return err == nil }
	if !there() {
		return nil
	}
	if _, err := processes.Output(exec.CommandContext(ctx, "ip", "link", "delete", name)); err != nil && there() {
		return fmt.Errorf("cannot disconnect the node: %w", err)
	}
	return nil
}
