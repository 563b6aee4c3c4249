package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const recipesFile = "docs/recipes.md"

// recipe is a sample as the page of recipes shows it.
type recipe struct {
	file, group, title, about string
	commands                  []string // that make what the sample refers to
	yaml                      string   // without the lines that all samples of the kind have
}

// recipes returns the page of recipes, one for each sample.
func recipes(root string) (string, error) {
	files, err := filepath.Glob(filepath.Join(root, "config/samples/*.yaml"))
	if err != nil {
		return "", err
	}
	var list []recipe
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		one, err := readRecipe(filepath.Base(file), string(text))
		if err != nil {
			return "", err
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b recipe) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(strings.ToLower(a.title), strings.ToLower(b.title)))
	})
	return recipesPage(list), nil
}

// readRecipe reads a sample: its first line is "# Group: title", what follows describes it, or is a command.
func readRecipe(file, text string) (recipe, error) {
	one := recipe{file: file}
	first, rest, _ := strings.Cut(text, "\n")
	var found bool
	one.group, one.title, found = strings.Cut(strings.TrimPrefix(first, "# "), ": ")
	if !found || !strings.HasPrefix(first, "# ") {
		return one, fmt.Errorf("config/samples/%s: the first line has to be the title of a recipe: # Expose: an Ingress with TLS", file)
	}
	var about []string
	for strings.HasPrefix(rest, "#") {
		first, rest, _ = strings.Cut(rest, "\n")
		if line := strings.TrimPrefix(first, "# "); strings.HasPrefix(line, "kubectl ") {
			one.commands = append(one.commands, "# "+line)
		} else {
			about = append(about, line)
		}
	}
	one.about, one.yaml = strings.Join(about, "\n"), rest
	if _, spec, found := strings.Cut(rest, "\nspec:\n"); found && strings.Contains(rest, "\nkind: AppService\n") {
		one.yaml = "spec:\n" + spec
	}
	return one, nil
}

// tooLong is how many lines a recipe may have. The page only links to longer ones.
const tooLong = 60

func recipesPage(list []recipe) string {
	var out strings.Builder
	var groups []string
	for _, one := range list {
		title := strings.ToUpper(one.title[:1]) + one.title[1:]
		if link := fmt.Sprintf("[%s](#%s)", one.group, strings.ToLower(one.group)); !slices.Contains(groups, link) {
			groups = append(groups, link)
			fmt.Fprintf(&out, "## %s\n\n", one.group)
		}
		fmt.Fprintf(&out, "### %s\n\n", title)
		if one.about != "" {
			fmt.Fprintf(&out, "%s ", strings.ReplaceAll(one.about, "\n", " "))
		}
		fmt.Fprintf(&out, "[%[1]s](../config/samples/%[1]s)\n\n", one.file)
		if strings.Count(one.yaml, "\n") <= tooLong {
			fmt.Fprintf(&out, "```yaml\n%s```\n\n", strings.Join(append(one.commands, one.yaml), "\n"))
		}
	}
	return "# Recipes\n\n<!-- Generated from config/samples by make generate. Do not edit. -->\n\n" +
		"For app developers: one example for each task. Where only `spec` is shown, the file has the rest. " +
		strings.Join(groups, ", ") + ".\n\n" + strings.TrimSuffix(out.String(), "\n")
}
