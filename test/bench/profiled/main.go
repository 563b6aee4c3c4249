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
	"github.com/example/appservice-operator/test/try"
)

func main() {
	if err := try.Catch(run); err != nil {
		fmt.Fprintln(os.Stderr, "profiled:", err)
		os.Exit(1)
	}
}

func run() {
	runtime.MemProfileRate = 64 << 10 // finer than usual: no-ops allocate little
	var options operator.Options
	options.Bind(flag.CommandLine)
	flag.Parse()
	ctrl.SetLogger(zap.New())
	cluster := try.Get(ctrl.GetConfig())
	mgr := try.Get(operator.New(cluster, options))
	go func() {
		if err := try.Catch(profiles); err != nil {
			fmt.Fprintln(os.Stderr, "profiled:", err)
			os.Exit(1)
		}
	}()
	try.Do(mgr.Start(ctrl.SetupSignalHandler()))
}

// profiles writes one after the other, as the signals come.
func profiles() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	for _, name := range strings.Split(os.Getenv("PROFILES"), ",") {
		path := filepath.Join(os.Getenv("PROFILE_DIR"), name)
		<-signals
		write(path+".live-before", live)
		write(path+".allocs-before.pprof", allocations)
		cpu := try.Get(os.Create(path + ".cpu.pprof"))
		try.Do(pprof.StartCPUProfile(cpu))
		<-signals
		pprof.StopCPUProfile()
		try.Do(cpu.Close())
		write(path+".allocs.pprof", allocations)
		write(path+".live", live)
		write(path+".heap.pprof", inUse)
	}
}

// live writes how many bytes of the heap are in use.
func live(file *os.File) error {
	runtime.GC()
	runtime.GC() // the first one may have left what finalizers keep, and half of each sync.Pool
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	_, err := fmt.Fprint(file, now.HeapAlloc)
	return err
}

func allocations(file *os.File) error {
	runtime.GC() // profiles are as of the last collection
	return pprof.Lookup("allocs").WriteTo(file, 0)
}

func inUse(file *os.File) error {
	runtime.GC()
	return pprof.WriteHeapProfile(file)
}

func write(path string, profile func(*os.File) error) {
	file := try.Get(os.Create(path))
	try.Do(profile(file))
	try.Do(file.Close())
}
