package page

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPagesAreRead(t *testing.T) {
	list, err := Blocks("# Page\n```yaml\n# a/b.yaml\nx: 1\n```\ntext\n```console\n$ one \\\n  two\nout…\n…\n$ make three &\n```\nend\n")
	require.NoError(t, err)
	require.Len(t, list, 2)
	name, content, err := list[0].File()
	assert.Equal(t, []any{"a/b.yaml", "x: 1\n", nil}, []any{name, content, err})
	assert.Equal(t, []Command{{8, "one \\\n  two", "out…\n…\n"}, {12, "make three &", ""}}, list[1].Commands())
	_, _, err = list[1].File()
	assert.ErrorContains(t, err, "line 7: ", "a file without a name")
	list, err = Blocks("```sh\none \\\n  two\nthree\n```\n\n```text\nout\n```\n\n```text\nanother\n```\n```sh\nfour\n```\nText.\n```text\nanother\n```\n")
	require.NoError(t, err)
	require.Len(t, list, 4)
	assert.Equal(t, []Command{{2, "one \\\n  two", ""}, {4, "three", "out\n"}}, list[0].Commands())
	assert.Equal(t, []Command{{15, "four", ""}}, list[2].Commands())
	assert.Equal(t, []string{"text", "text"}, []string{list[1].Language, list[3].Language})
	_, err = Blocks("```console\n$ one\n")
	assert.ErrorContains(t, err, "line 1: ", "a block without an end")
}
