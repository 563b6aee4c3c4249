package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
)

// collectAt makes the garbage collector run when the heap has grown by half rather than doubled: most of it is long-lived
// caches, and memory is more expensive than the little CPU that this takes. GOGC overrides it.
const collectAt = 50

// memoryLimit is the variable in which manifests set the container's memory limit in bytes, and limitShare the percentage of it that
// the collector aims at: the rest is for memory that it does not count, and for allocations before it is done. GOMEMLIMIT overrides
// both.
const (
	memoryLimit = "MEMORY_LIMIT"
	limitShare  = 90
)

// tuneCollector sets up the garbage collector for the memory that the container may use: the nearer to that, the more often it collects, so
// that a peak slows the manager down rather than ending it.
func tuneCollector() error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	if os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	limit, err := limitOf(os.Getenv(memoryLimit))
	if err == nil {
		debug.SetMemoryLimit(limit)
	}
	return err
}

// limitOf returns how many bytes the collector aims at in a container that may use so many; without a number, as many as there are.
func limitOf(bytes string) (int64, error) {
	if bytes == "" {
		return math.MaxInt64, nil
	}
	limit, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil || limit <= 0 {
		return 0, fmt.Errorf("%s is %q, which is no number of bytes: take it from limits.memory by resourceFieldRef, or leave it out", memoryLimit, bytes)
	}
	return limit / 100 * limitShare, nil
}
