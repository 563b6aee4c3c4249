// Package node runs a Kubernetes cluster of one real node on this machine: pods are containers, Services have ports.
//
// It needs Linux and root, but no container engine: runc and the CNI plugins are the distribution's packages,
// containerd and everything of Kubernetes are built from their sources. No image can be pulled; Load brings in
// archives.
//
// A node lives in namespaces of its own for processes, mounts and the network, so a machine can have several, and when
// the first process of a node is killed, everything goes with it: pods, mounts, addresses, rules of the firewall. A
// pair of virtual network interfaces connects it to the machine, which reaches the API server and the ports of
// Services at the node's address; no other host does. Until Down, these stay: the node's folder, nodes/NAME in the
// toolchain's cache, and its control groups.
//
// A node outlives the process that brought it up, and the next Up with its name finds it again. One that is not whole
// is thrown away and made again.
package node
