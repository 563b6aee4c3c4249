package toolchain

import (
	"strings"
	"testing"
)

func TestOffers(t *testing.T) {
	cases := map[string]struct {
		official func(version, arch string) offer
		version  string
		want     offer
	}{
		"Kubernetes": {kubernetesOffer("kube-apiserver"), "v1.36.3", offer{
			version: "v1.36.3",
			url:     "https://dl.k8s.io/release/v1.36.3/bin/linux/arm64/kube-apiserver",
			sums:    "https://dl.k8s.io/release/v1.36.3/bin/linux/arm64/kube-apiserver.sha256",
		}},
		"etcd": {etcdOffer, "v3.6.16", offer{
			version: "v3.6.16",
			url:     "https://github.com/etcd-io/etcd/releases/download/v3.6.16/etcd-v3.6.16-linux-arm64.tar.gz",
			member:  "etcd-v3.6.16-linux-arm64/etcd",
			sums:    "https://github.com/etcd-io/etcd/releases/download/v3.6.16/SHA256SUMS",
		}},
		"kwok": {kwokOffer("kwokctl"), "v0.8.0", offer{
			version: "v0.8.0",
			url:     "https://github.com/kubernetes-sigs/kwok/releases/download/v0.8.0/kwokctl-linux-arm64",
			sums:    "https://api.github.com/repos/kubernetes-sigs/kwok/releases/tags/v0.8.0",
		}},
		"Prometheus": {prometheusOffer("promtool"), "v0.305.0", offer{
			version: "v3.5.0",
			url:     "https://github.com/prometheus/prometheus/releases/download/v3.5.0/prometheus-3.5.0.linux-arm64.tar.gz",
			member:  "prometheus-3.5.0.linux-arm64/promtool",
			sums:    "https://github.com/prometheus/prometheus/releases/download/v3.5.0/sha256sums.txt",
		}},
		"a Prometheus of two digits": {prometheusOffer("promtool"), "v0.315.1", offer{
			version: "v3.15.1",
			url:     "https://github.com/prometheus/prometheus/releases/download/v3.15.1/prometheus-3.15.1.linux-arm64.tar.gz",
			member:  "prometheus-3.15.1.linux-arm64/promtool",
			sums:    "https://github.com/prometheus/prometheus/releases/download/v3.15.1/sha256sums.txt",
		}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := tc.official(tc.version, "arm64"); got != tc.want {
				t.Errorf("got  %+v\nwant %+v", got, tc.want)
			}
		})
	}
}

func TestChecksum(t *testing.T) {
	sum := sumOf("tool")
	cases := map[string]struct{ document, want, wantErr string }{
		"one checksum alone":          {sum + "\n", sum, ""},
		"lines of several files":      {sumOf("a") + "  a\n" + sum + "  tool\n", sum, ""},
		"lines of binary files":       {sumOf("a") + " *a\n" + sum + " *tool\n", sum, ""},
		"a release on GitHub":         {`{"assets":[{"name":"a"},{"name":"tool","digest":"sha256:` + sum + `"},{"name":"b","digest":"sha256:` + sumOf("b") + `"}]}`, sum, ""},
		"a release without checksums": {`{"assets":[{"name":"tool","digest":null}]}`, "", "no checksum is published"},
		"lines of other files":        {sumOf("a") + "  a\n" + sumOf("b") + "  my-tool\n", "", "no checksum is published"},
		"nothing":                     {"", "", "no checksum is published"},
		"a checksum of another kind":  {sum[:40], "", "is not a SHA-256"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := checksum([]byte(tc.document), "tool")
			if got != tc.want || (err == nil) != (tc.wantErr == "") || err != nil && !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("got %q and error %v, want %q and error %q", got, err, tc.want, tc.wantErr)
			}
		})
	}
}
