package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestCPUTimeOfOthers(t *testing.T) {
	before := map[int]float64{1: 10, 2: 5, 3: 7}
	after := map[int]float64{1: 10.5, 2: 5, 4: 2}
	assert.InDelta(t, 2.5, used(before, after), 1e-9, "1 has used 0.5, 2 none, 3 has ended, 4 has begun")
}
