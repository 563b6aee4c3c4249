//go:build unix && !linux

package main

import "syscall"

// rootedAt makes a process see folder as the root of all files, which only root may do.
func rootedAt(folder string) *syscall.SysProcAttr { return &syscall.SysProcAttr{Chroot: folder} }
