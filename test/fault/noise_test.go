package fault

import "math/rand/v2"

// noise makes texts that do not compress, the same in each run.
func noise(items, length int) []string {
	source := rand.New(rand.NewPCG(1, 2))
	list := make([]string, items)
	for i := range list {
		text := make([]byte, length)
		for j := range text {
			text[j] = byte('a' + source.IntN('z'-'a'))
		}
		list[i] = string(text)
	}
	return list
}
