package toolchain

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// offer is a binary of a program, as its publisher has it for download.
type offer struct {
	version string // as the publisher writes it
	url     string // of the program, or of an archive that holds it
	member  string // the program's path in the archive, if the URL is that of one
	sums    string // URL of the document that has the SHA-256 of what is at url
}

// The URLs are those that kwokctl downloads from. It verifies nothing and keeps what a broken connection leaves, which
// is why this package downloads on its own.
const (
	kubernetesReleases = "https://dl.k8s.io/release/"
	etcdReleases       = "https://github.com/etcd-io/etcd/releases/download/"
	kwokReleases       = "https://github.com/kubernetes-sigs/kwok/releases/download/"
	prometheusReleases = "https://github.com/prometheus/prometheus/releases/download/"
	// kwokSums ends with the tag: the releases of kwok have no file with checksums, but GitHub publishes one for each
	// file.
	kwokSums = "https://api.github.com/repos/kubernetes-sigs/kwok/releases/tags/"
)

func kubernetesOffer(name string) func(version, arch string) offer {
	return func(version, arch string) offer {
		url := kubernetesReleases + version + "/bin/linux/" + arch + "/" + name
		return offer{version: version, url: url, sums: url + ".sha256"}
	}
}

func etcdOffer(version, arch string) offer {
	name := "etcd-" + version + "-linux-" + arch
	return offer{
		version: version, url: etcdReleases + version + "/" + name + ".tar.gz", member: name + "/etcd",
		sums: etcdReleases + version + "/SHA256SUMS",
	}
}

func kwokOffer(name string) func(version, arch string) offer {
	return func(version, arch string) offer {
		return offer{version: version, url: kwokReleases + version + "/" + name + "-linux-" + arch, sums: kwokSums + version}
	}
}

func prometheusOffer(name string) func(version, arch string) offer {
	return func(version, arch string) offer {
		version = prometheusRelease(version)
		folder := "prometheus-" + strings.TrimPrefix(version, "v") + ".linux-" + arch
		return offer{
			version: version, url: prometheusReleases + version + "/" + folder + ".tar.gz", member: folder + "/" + name,
			sums: prometheusReleases + version + "/sha256sums.txt",
		}
	}
}

// prometheusRelease returns the release that a version of Prometheus's module stands for: v3.15.0 for v0.315.0.
func prometheusRelease(version string) string {
	parts := regexp.MustCompile(`^v0\.(\d+)(\d\d)\.(\d+)$`).FindStringSubmatch(version)
	if parts == nil {
		return version
	}
	return "v" + parts[1] + "." + strings.TrimPrefix(parts[2], "0") + "." + parts[3]
}

// checksum finds the SHA-256 of a file in what its publisher says: one checksum alone, lines of checksums and names, or
// GitHub's description of a release.
func checksum(document []byte, file string) (string, error) {
	sum := ""
	var release struct {
		Assets []struct{ Name, Digest string }
	}
	if json.Unmarshal(document, &release) == nil {
		for _, asset := range release.Assets {
			if asset.Name == file {
				sum = strings.TrimPrefix(asset.Digest, "sha256:")
			}
		}
	} else if words := strings.Fields(string(document)); len(words) == 1 {
		sum = words[0]
	} else {
		for line := range strings.Lines(string(document)) {
			if fields := strings.Fields(line); len(fields) == 2 && strings.TrimPrefix(fields[1], "*") == file {
				sum = fields[0]
			}
		}
	}
	if sum == "" {
		return "", errors.New("no checksum is published")
	}
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(sum) {
		return "", fmt.Errorf("%q is not a SHA-256", sum)
	}
	return sum, nil
}
