package policy

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"
)

// Ports are ports, and ranges of ports.
type Ports []string

// Allow reports whether a port is among them.
func (p Ports) Allow(port int64) bool {
	return slices.ContainsFunc(p, func(item string) bool {
		from, to, err := portRange(item)
		return err == nil && from <= port && port <= to
	})
}

func (p Ports) check(item string) error {
	_, _, err := portRange(item)
	return err
}

func portRange(item string) (from, to int64, err error) {
	first, second, isRange := strings.Cut(item, "-")
	if !isRange {
		second = first
	}
	low, err := strconv.ParseUint(first, 10, 16)
	high, other := strconv.ParseUint(second, 10, 16)
	if err != nil || other != nil || low == 0 || high < low {
		return 0, 0, fmt.Errorf("%q is neither a port nor a range such as 30000-30099", item)
	}
	return int64(low), int64(high), nil
}

// Networks are addresses and networks.
type Networks []string

// Allow reports whether an address is among them.
func (n Networks) Allow(address string) bool {
	parsed, err := netip.ParseAddr(address)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(n, func(item string) bool {
		network, err := networkOf(item)
		return err == nil && network.Contains(parsed.Unmap())
	})
}

func (n Networks) check(item string) error {
	_, err := networkOf(item)
	return err
}

func networkOf(item string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(item); err == nil {
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(item)
	if err != nil {
		return netip.Prefix{}, fmt.Errorf("%q is neither an address nor a network such as 192.0.2.0/24", item)
	}
	return network, nil
}

// Registries are registries, and parts of registries.
type Registries []string

// Allow reports whether an image comes from one of them.
func (r Registries) Allow(image string) bool {
	name := repository(image)
	return name != "" && last(r, name, holds, holds)
}

// repository returns the full name of an image, without tag and digest; empty if it is not valid.
func repository(image string) string {
	named, err := reference.ParseNormalizedNamed(image)
	if err != nil {
		return ""
	}
	return named.Name()
}

func (r Registries) check(item string) error {
	if strings.ContainsAny(item, `?[]\@ `) || item == "" || strings.HasSuffix(item, "/") || strings.Contains(item, "://") {
		return fmt.Errorf("%q is not a registry: write a host such as registry.example.com, a host and a path such as ghcr.io/example, or * for all", item)
	}
	return nil
}

// holds reports whether a repository belongs to a registry, or to a part of it.
func holds(registry, repository string) bool {
	if registry == everything {
		return true
	}
	parts := strings.Count(registry, "/") + 1
	names := strings.SplitN(repository, "/", parts+1)
	return len(names) >= parts && glob(registry, strings.Join(names[:parts], "/"))
}
