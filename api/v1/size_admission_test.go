package v1_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestTheEdgesOfHowLargeASpecMayBe(t *testing.T) {
	list := func(count int, entry string) string {
		entries := make([]string, count)
		for i := range entries {
			entries[i] = strings.ReplaceAll(entry, "N", fmt.Sprint(i))
		}
		return "[" + strings.Join(entries, ", ") + "]"
	}
	variables := func(count int) string { return list(count, `{name: vN, value: x}`) }
	sidecars := func(field string, count int, entry string) string {
		return `sidecars: [{name: b, image: b, ` + field + `: ` + list(count, entry) + `}]`
	}
	labels := func(length int) string {
		return `commonLabels: {` + strings.Repeat("a", 100) + `: ` + strings.Repeat("b", 63) + `, ` + strings.Repeat("c", length-164) + `: d}`
	}
	paths := func(hosts, paths, more int) string {
		all := list(hosts, `{host: hN.example.com, paths: `+list(paths, `{path: /pN}`)+`}`)
		return `ports: [{port: 1}], ingress: {hosts: [{host: first.example.com, paths: ` + list(more, `{path: /pN}`) + `}, ` + all[1:] + `}`
	}
	route := func(parents, hosts, matches int) string {
		return `ports: [{port: 1}], route: {parentRefs: ` + list(parents, `{name: gN}`) + `, hostnames: ` + list(hosts, `hN.example.com`) +
			`, rules: [{matches: ` + list(matches, `{path: /pN}`) + `}]}`
	}
	const together = "256 entries together: put more of them into a ConfigMap of your own, and take it with envFrom"
	tests := map[string]edge{
		"variables of a sidecar":    {sidecars("env", 256, `{name: vN}`), sidecars("env", 257, `{name: vN}`), together},
		"variables of all":          {`envs: ` + variables(128) + `, ` + sidecars("env", 128, `{name: vN}`), `envs: ` + variables(128) + `, ` + sidecars("env", 129, `{name: vN}`), together},
		"variables while it starts": {`envs: ` + variables(156) + `, initContainers: [{name: i, image: i, env: ` + variables(100) + `}]`, `envs: ` + variables(157) + `, initContainers: [{name: i, image: i, env: ` + variables(100) + `}]`, together},
		"arguments of a sidecar":    {sidecars("args", 256, `"N"`), sidecars("args", 257, `"N"`), "256 in args"},
		"command of a sidecar":      {sidecars("command", 64, `"N"`), sidecars("command", 65, `"N"`), "64 in command"},
		"sources of a sidecar":      {sidecars("envFrom", 32, `{configMapRef: {name: cN}}`), sidecars("envFrom", 33, `{configMapRef: {name: cN}}`), "32 entries in envFrom"},
		"mounts of a sidecar":       {sidecars("volumeMounts", 64, `{name: v, mountPath: /mN}`), sidecars("volumeMounts", 65, `{name: v, mountPath: /mN}`), "64 in command, volumeMounts"},
		"labels of all objects":     {labels(1024), labels(1025), "more than 1024 characters together"},
		"paths":                     {paths(31, 4, 4), paths(31, 4, 5), "more than 128 paths together: spread them over several AppServices"},
		"hosts of a route":          {route(2, 16, 4), route(2, 16, 5), "more than 128 combinations"},
		"gateways of a route":       {route(16, 1, 8), route(16, 2, 8), "more than 128 combinations"},
		"a route without hosts":     {`ports: [{port: 1}], route: {parentRefs: ` + list(16, `{name: gN}`) + `}`, route(16, 0, 9), "more than 128 combinations"},
	}
	testEdges(t, tests)
}
