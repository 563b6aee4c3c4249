package fields

// DidYouMean returns a question with the known name that is most similar to a wrong one, as in ": did you mean
// integer?"; empty if none is.
func DidYouMean(wrong string, known []string) string {
	best, least := "", len(wrong)/3+1
	for _, name := range known {
		if distance := distance(wrong, name); distance < least {
			best, least = name, distance
		}
	}
	if best == "" {
		return ""
	}
	return ": did you mean " + best + "?"
}

// distance returns the Damerau-Levenshtein distance (optimal string alignment) between two strings, in bytes.
func distance(a, b string) int {
	previous, current, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range current {
		current[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			next[j] = min(current[j]+1, next[j-1]+1, current[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], previous[j-2]+1)
			}
		}
		previous, current, next = current, next, previous
	}
	return current[len(b)]
}
