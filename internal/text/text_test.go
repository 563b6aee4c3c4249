package text

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestLine(t *testing.T) {
	assert.Equal(t, "one line", Line(" one\n\t line\n"))
}

func TestCutCountsCharacters(t *testing.T) {
	assert.Equal(t, "äöü", Cut("äöü", 3))
	assert.Equal(t, "äö…", Cut("äöüß", 3))
}

func TestListsSayHowManyMoreThereAre(t *testing.T) {
	list := []string{"a", "b", "c"}
	assert.Equal(t, list, First(list, 3))
	assert.Equal(t, []string{"a", "b", "and 1 more"}, First(list, 2))
	assert.Equal(t, []string{"a", "b", "c"}, list, "the list itself stays as it is")
	assert.Equal(t, "a, b, c", Some(list, 3))
	assert.Equal(t, "a, b and 1 more", Some(list, 2))
}
