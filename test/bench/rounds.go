package main

import (
	"cmp"
	"slices"
)

// together sums up rounds: each figure is the median of theirs, with its range. All else is that of the round whose
// image change is the median. A figure that one round does not know is unknown.
func together(rounds []*Results) *Results {
	for _, round := range rounds {
		round.judge()
	}
	middle := func(f int) *Results {
		byValue := slices.SortedFunc(slices.Values(rounds), func(a, b *Results) int {
			return cmp.Compare(a.Figures[f].Measured, b.Figures[f].Measured)
		})
		return byValue[len(byValue)/2]
	}
	image := slices.IndexFunc(rounds[0].Figures, func(f Figure) bool { return f.Name == imageChange })
	out := *middle(image)
	out.Rounds, out.Figures = len(rounds), slices.Clone(out.Figures)
	for i := range out.Figures {
		out.Figures[i] = middle(i).Figures[i]
		f := &out.Figures[i]
		f.Least, f.Largest = f.Measured, f.Measured
		for _, round := range rounds {
			one := round.Figures[i]
			f.Known = f.Known && one.Known
			f.Least, f.Largest = min(f.Least, one.Measured), max(f.Largest, one.Measured)
		}
	}
	return &out
}
