package readywhen

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"k8s.io/apiserver/pkg/cel/library"
)

// costLimit is what one evaluation may cost: a fiftieth of what the API server allows, since it is paid each time that
// an object changes. To look at one item of a list costs about 6.
const costLimit = 20_000

// estimator charges what the API server's libraries do, and for comparisons what they look at: two objects are more
// than one step apart.
type estimator struct{ library.CostEstimator }

// CallCost returns the cost of a call; nil if it is the usual one.
func (e *estimator) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	switch function {
	case operators.Equals, operators.NotEquals, operators.In, "indexOf", "lastIndexOf":
		var cost uint64
		for _, arg := range args {
			cost += weight(arg)
		}
		return &cost
	case operators.Add:
		if text, isText := result.(types.String); isText { // lists are not copied
			cost := weight(text)
			return &cost
		}
	}
	return e.CostEstimator.CallCost(function, overload, args, result)
}

var _ interpreter.ActualCostEstimator = &estimator{}

// weight is about how many steps it takes to look at all of a value.
func weight(value ref.Val) uint64 {
	const letters = 10 // a step
	switch value := value.(type) {
	case types.String:
		return 1 + uint64(len(value))/letters
	case traits.Mapper:
		total := uint64(1)
		for it := value.Iterator(); it.HasNext() == types.True; {
			total += weight(value.Get(it.Next()))
		}
		return total
	case traits.Lister:
		total := uint64(1)
		for it := value.Iterator(); it.HasNext() == types.True; {
			total += weight(it.Next())
		}
		return total
	}
	return 1
}
