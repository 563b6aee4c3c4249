package packaging

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const docs = root + "/docs"

// A link is one of a document to a file of the repository, and to a heading in it.
type link struct{ written, target, heading string }

var (
	linked   = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	fenced   = regexp.MustCompile("(?ms)^ *(```+|~~~+)[^\n]*\n.*?^ *(```+|~~~+) *$")
	inlined  = regexp.MustCompile("`[^`\n]+`")
	headings = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	named    = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
)

// links returns the links of a document, except those in code.
func links(t *testing.T, path string) []link {
	t.Helper()
	var list []link
	prose := inlined.ReplaceAllString(fenced.ReplaceAllString(text(t, path), ""), "``")
	for _, found := range linked.FindAllStringSubmatch(prose, -1) {
		if strings.Contains(found[1], "://") || strings.HasPrefix(found[1], "mailto:") {
			continue
		}
		file, heading, _ := strings.Cut(found[1], "#")
		target := path
		if file != "" {
			target = filepath.Join(filepath.Dir(path), file)
		}
		list = append(list, link{found[1], target, heading})
	}
	return list
}

// anchors are the names that headings have in links, as GitHub and the site make them.
func anchors(markdown string) []string {
	var names []string
	times := map[string]int{}
	markdown = fenced.ReplaceAllString(markdown, "")
	for _, found := range headings.FindAllStringSubmatch(markdown, -1) {
		kept := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(found[1]), "")
		name := strings.ReplaceAll(strings.TrimSpace(kept), " ", "-")
		if times[name]++; times[name] > 1 {
			name = fmt.Sprintf("%s-%d", name, times[name]-1)
		}
		names = append(names, name)
	}
	for _, found := range named.FindAllStringSubmatch(markdown, -1) {
		names = append(names, found[1])
	}
	return names
}

// Every link to a file of the repository leads to one, and to an existing heading.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, path := range markdown(t) {
		for _, link := range links(t, path) {
			if _, err := os.Stat(link.target); err != nil {
				t.Errorf("%s links to %s: %v", path, link.written, err)
			} else if link.heading != "" && !slices.Contains(anchors(text(t, link.target)), link.heading) {
				t.Errorf("%s links to %s, which has no such heading", path, link.written)
			}
		}
	}
}

func TestAnchorsAreThoseOfGitHub(t *testing.T) {
	got := anchors("# What `make` says: a, b\n\n```sh\n# a comment\n```\n\n## Do\n### Do\n<a id=\"old\"></a>\n## watches.yaml\n")
	want := []string{"what-make-says-a-b", "do", "do-1", "watchesyaml", "old"}
	assert.Equal(t, want, got)
}

// Each document is found by who begins at the README or at the index of the documents.
func TestEachDocumentCanBeReached(t *testing.T) {
	reached := map[string]bool{}
	for next := []string{filepath.Clean(readme), docs + "/README.md"}; len(next) > 0; next = next[1:] {
		if reached[next[0]] {
			continue
		}
		reached[next[0]] = true
		for _, link := range links(t, next[0]) {
			if strings.HasSuffix(link.target, ".md") {
				next = append(next, link.target)
			}
		}
	}
	for _, path := range markdown(t) {
		if strings.HasPrefix(path, docs) && !reached[path] {
			t.Errorf("no link leads to %s, neither from the README nor from the index of docs", path)
		}
	}
}

// The tables of test/README.md have each folder once.
func TestTheFoldersOfTestsAreDescribed(t *testing.T) {
	rows := regexp.MustCompile("(?m)^\\|(?:[^|`]*\\|)? (`[^|]*`) \\|")
	var described, there []string
	for _, row := range rows.FindAllStringSubmatch(text(t, root+"/test/README.md"), -1) {
		for name := range strings.SplitSeq(row[1], ", ") {
			described = append(described, strings.Trim(name, "`"))
		}
	}
	entries, err := os.ReadDir(root + "/test")
	require.NoError(t, err)
	for _, entry := range entries {
		if entry.IsDir() {
			there = append(there, entry.Name())
		}
	}
	assert.ElementsMatch(t, there, described)
}

// The menu of the site has each page once, but those that are listed on a page of their own.
func TestTheSiteHasEachPage(t *testing.T) {
	var site struct {
		Nav []any `json:"nav"`
	}
	require.NoError(t, yaml.Unmarshal([]byte(text(t, root+"/mkdocs.yml")), &site))
	times := map[string]int{}
	for _, page := range pages(site.Nav) {
		times[page]++
	}
	for _, path := range markdown(t) {
		page, err := filepath.Rel(docs, path)
		if err != nil || strings.HasPrefix(page, "..") {
			continue // not of docs
		}
		folder := filepath.Dir(page)
		want := 1
		if folder == "adr" && filepath.Base(page) != "README.md" {
			want = 0
		}
		assert.EqualValues(t, want, times[page], "mkdocs.yml has %s %d times, want %d", page, times[page], want)
		delete(times, page)
	}
	for page := range times {
		t.Errorf("mkdocs.yml has %s, which there is none of", page)
	}
}

// pages returns the files in a menu of the site, which nests lists and maps.
func pages(entry any) []string {
	switch entry := entry.(type) {
	case string:
		return []string{entry}
	case []any:
		var list []string
		for _, item := range entry {
			list = append(list, pages(item)...)
		}
		return list
	case map[string]any:
		var list []string
		for _, item := range entry {
			list = append(list, pages(item)...)
		}
		return list
	}
	return nil
}
