package suites

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCoverageMayNotFall(t *testing.T) {
	require.Equal(t, [][]string{{"\ta/b\t\tcoverage: 92.1% of statements", "a/b", "92.1"}},
		covered.FindAllStringSubmatch("\ta/b\t\tcoverage: 92.1% of statements\n\ta/c\t\tcoverage: [no statements]\n", -1))
	now := map[string]float64{"a": 75, "b": 100}
	require.NoError(t, lower(map[string]float64{"a": 75.4}, now))
	require.ErrorContains(t, lower(map[string]float64{"a": 80, "b": 100}, now), "a: tests cover 75.0 %")
	require.Error(t, lower(map[string]float64{"c": 1}, now))
}
