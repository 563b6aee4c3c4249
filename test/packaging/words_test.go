package packaging

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// mostWords is how many words README, SECURITY and the pages of docs have outside code blocks, without decisions,
// reference and the generated benchmarks. It does not grow: a new page replaces what it says better.
const mostWords = 41820

func TestTheDocumentationDoesNotGrow(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join(root, "docs", "*.md"))
	require.NoError(t, err)
	pages = append(pages, filepath.Join(root, "README.md"), filepath.Join(root, "SECURITY.md"))
	words := 0
	for _, page := range pages {
		if filepath.Base(page) == "benchmarks.md" {
			continue
		}
		content, err := os.ReadFile(page)
		require.NoError(t, err)
		words += wordsOf(string(content))
	}
	assert.LessOrEqual(t, words, mostWords, "shorten a page, or leave out what another one says")
	assert.Less(t, mostWords-words, 200, "mostWords may be less")
}

// wordsOf counts the words of a page outside its code blocks.
func wordsOf(page string) (words int) {
	code := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			code = !code
			continue
		}
		if !code {
			words += len(strings.Fields(line))
		}
	}
	return words
}

func TestWordsOutsideOfCodeAreCounted(t *testing.T) {
	assert.Equal(t, 5, wordsOf("# One two\n\n```console\n$ not this\n```\nthree\n  ```yaml\nnot: this\n  ```\nfour\n"))
}
