package node

// packaged are the programs of the distribution that a node needs, and the packages of Debian and Ubuntu that have them.
var packaged = map[string]string{
	"runc":             "runc",
	"/usr/lib/cni/ptp": "containernetworking-plugins",
	"iptables":         "iptables",
	"conntrack":        "conntrack",
	"ip":               "iproute2",
	"nsenter":          "util-linux",
	"mount":            "mount",
}
