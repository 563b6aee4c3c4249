package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// Machine describes the machine of a run.
type Machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

func (m Machine) String() string {
	return fmt.Sprintf("%d × %s, %s, %s", m.Cores, m.CPU, m.Kernel, m.Go)
}

// like reports whether programs that are built already run here as they do there.
func (m Machine) like(other Machine) bool {
	return m.CPU == other.CPU && m.Cores == other.Cores && m.Kernel == other.Kernel
}

// commit returns the commit of the code that is measured.
func commit() (string, error) {
	out, err := exec.Command("git", "rev-parse", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("cannot read the commit that is measured: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

func machine() Machine {
	m := Machine{CPU: runtime.GOARCH, Cores: runtime.NumCPU(), Kernel: runtime.GOOS, Go: runtime.Version()}
	if release, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel += " " + strings.TrimSpace(string(release))
	}
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == "model name" {
			m.CPU = strings.TrimSpace(value)
			break
		}
	}
	return m
}
