package main

import (
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"strconv"
)

// collectAt is the GOGC percentage: collect when the heap has grown by half rather than doubled. Most of the heap is
// long-lived caches, and memory costs more than the little CPU that this takes. The variable GOGC overrides it.
const collectAt = 50

// memoryLimit is the environment variable with the container's memory limit in bytes, and limitShare the percentage of
// it that becomes the collector's soft limit: the rest is for memory that Go does not manage, and for allocations
// during a collection. GOMEMLIMIT overrides both.
const (
	memoryLimit = "MEMORY_LIMIT"
	limitShare  = 90
)

// tuneCollector configures the garbage collector for the memory limit of the container. It collects more often near the
// limit, so a peak slows the manager down instead of getting it killed.
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

// limitOf returns the soft memory limit, in bytes, for a container's limit; math.MaxInt64 if that is empty.
func limitOf(bytes string) (int64, error) {
	if bytes == "" {
		return math.MaxInt64, nil
	}
	limit, err := strconv.ParseInt(bytes, 10, 64)
	if err != nil || limit <= 0 {
		return 0, fmt.Errorf("%s is %q, which is not a number of bytes: take it from limits.memory by resourceFieldRef, or leave it out", memoryLimit, bytes)
	}
	return limit / 100 * limitShare, nil
}
