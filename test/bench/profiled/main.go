// Command profiled is the manager with profiles, for make profile: the manager itself has no way to be profiled. The
// first SIGUSR1 starts a CPU profile, the next one ends it and writes what was allocated, and so on, for each name in
// PROFILES (separated by commas) into the folder PROFILE_DIR.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"syscall"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/example/appservice-operator/internal/operator"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "profiled:", err)
		os.Exit(1)
	}
}

func run() error {
	runtime.MemProfileRate = 64 << 10 // finer than usual: no-ops allocate little
	var options operator.Options
	options.Bind(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New())
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	mgr, err := operator.New(cluster, options)
	if err != nil {
		return err
	}
	go func() {
		if err := profiles(); err != nil {
			fmt.Fprintln(os.Stderr, "profiled:", err)
			os.Exit(1)
		}
	}()
	return mgr.Start(ctrl.SetupSignalHandler())
}

// profiles writes one after the other, as the signals come.
func profiles() error {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	for _, name := range strings.Split(os.Getenv("PROFILES"), ",") {
		path := filepath.Join(os.Getenv("PROFILE_DIR"), name)
		<-signals
		if err := write(path+".allocs-before.pprof", allocations); err != nil {
			return err
		}
		cpu, err := os.Create(path + ".cpu.pprof")
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(cpu); err != nil {
			return err
		}
		<-signals
		pprof.StopCPUProfile()
		if err := cpu.Close(); err != nil {
			return err
		}
		if err := write(path+".allocs.pprof", allocations); err != nil {
			return err
		}
		if err := write(path+".heap.pprof", inUse); err != nil {
			return err
		}
	}
	return nil
}

func allocations(file *os.File) error {
	runtime.GC() // profiles are as of the last collection
	return pprof.Lookup("allocs").WriteTo(file, 0)
}

func inUse(file *os.File) error {
	runtime.GC()
	return pprof.WriteHeapProfile(file)
}

func write(path string, profile func(*os.File) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := profile(file); err != nil {
		return err
	}
	return file.Close()
}
