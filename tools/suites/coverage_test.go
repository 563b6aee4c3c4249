package suites

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCoverageMayNotFall(t *testing.T) {
	now := shares("mode: set\na/x.go:1.2,3.4 3 0\na/y.go:1.2,3.4 1 0\nb/z.go:1.2,3.4 2 1\na/x.go:1.2,3.4 3 1\na/y.go:1.2,3.4 1 0\n")
	require.Equal(t, map[string]float64{"a": 75, "b": 100}, now)
	require.NoError(t, lower(map[string]float64{"a": 75.4}, now))
	require.ErrorContains(t, lower(map[string]float64{"a": 80, "b": 100}, now), "a: tests cover 75.0 %")
	require.Error(t, lower(map[string]float64{"c": 1}, now))
}
