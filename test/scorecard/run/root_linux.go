package main

import (
	"os"
	"syscall"
)

// rootedAt makes a process see folder as the root of all files. Without being root that takes a user namespace.
func rootedAt(folder string) *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{Chroot: folder}
	if os.Geteuid() != 0 {
		attributes.Cloneflags = syscall.CLONE_NEWUSER
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	return attributes
}
