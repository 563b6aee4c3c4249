package try

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAStepEndsAtTheFirstError(t *testing.T) {
	broken := errors.New("broken")
	went := 0
	err := Catch(func() {
		Do(nil)
		went += Get(1, nil)
		Get2(2, 3, broken)
		went++
	})
	assert.ErrorIs(t, err, broken)
	assert.Equal(t, 1, went)
	assert.NoError(t, Catch(func() {}))
	assert.EqualError(t, Catch(func() { Fail("step %d: %w", 2, broken) }), "step 2: broken")
}

// A mistake of the program is not an error of the step: it keeps its stack.
func TestOtherPanicsGoOn(t *testing.T) {
	assert.Panics(t, func() { _ = Catch(func() { panic("mistake") }) })
}
