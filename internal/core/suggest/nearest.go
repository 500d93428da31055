package suggest

import "strings"

// longest is the length of the longest name that is compared. Every known name is less than half as long, and the time
// for a comparison grows with the square of the length.
const longest = 100

// Nearest returns the candidate that is most similar to a misspelled name, or an empty string when none is similar. A
// candidate is similar if it differs by only a few typos: at most one for every three letters of the misspelled name,
// or one if that name has fewer than three letters. A candidate is also similar if at least half of the words in each
// name are the same (`url` and `base_url`, `api_key` and `api_token`). Of equally similar candidates, Nearest returns
// the first.
func Nearest(name string, candidates []string) string {
	if len(name) > longest {
		return ""
	}
	return Among(candidates).Nearest(name)
}

// Candidates are names that are prepared for comparison. Preparing them once saves time for a list that is used often.
type Candidates []candidate

type candidate struct {
	name, folded string
	words        []string
}

// Among prepares names for comparison.
func Among(names []string) Candidates {
	candidates := make(Candidates, len(names))
	for i, name := range names {
		folded := fold(name)
		candidates[i] = candidate{name: name, folded: folded, words: strings.FieldsFunc(folded, isSeparator)}
	}
	return candidates
}

// Nearest returns the candidate that is most similar to a misspelled name, as the function Nearest does.
func (c Candidates) Nearest(name string) string {
	if len(name) > longest {
		return ""
	}
	folded := fold(name)
	if best := c.nearestBySlips(folded); best != "" {
		return best
	}
	return c.nearestByWords(folded)
}

func (c Candidates) nearestBySlips(folded string) string {
	best, least := "", max(1, len(folded)/3)+1
	for i := range c {
		if slips := distance(folded, c[i].folded, least); slips < least {
			best, least = c[i].name, slips
		}
	}
	return best
}

func (c Candidates) nearestByWords(folded string) string {
	words := strings.FieldsFunc(folded, isSeparator)
	best, most := "", 0
	for i := range c {
		theirs := c[i].words
		common := 0
		for _, word := range words {
			for _, their := range theirs {
				if word == their {
					common++
				}
			}
		}
		// At least half the words must match, so that two keys do not count as similar only because both contain `max`.
		if common > most && 2*common >= len(words) && 2*common >= len(theirs) {
			best, most = c[i].name, common
		}
	}
	return best
}

// fold returns the same text for names that differ only in case and separator, such as baseUrl, base-url and base_url.
func fold(name string) string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		wasLower := lower
		lower = 'a' <= r && r <= 'z'
		switch {
		case r == '-' || r == ' ':
			r = '_'
		case 'A' <= r && r <= 'Z':
			if wasLower {
				b.WriteByte('_')
			}
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isSeparator(r rune) bool { return r == '_' || r == ':' || r == '.' || r == '/' }

// distance returns the number of letters to insert, delete, change or swap to get from one word to the other. If the
// number is at least as large as the bound, it returns the bound.
func distance(a, b string, bound int) int {
	if len(a)-len(b) >= bound || len(b)-len(a) >= bound {
		return bound
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost(a[i-1], b[j-1]))
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], bound)
}

func cost(a, b byte) int {
	if a == b {
		return 0
	}
	return 1
}

// IsSlip reports whether two names differ by one typo.
func IsSlip(a, b string) bool {
	return a != b && max(len(a), len(b)) <= longest && distance(a, b, 2) == 1
}
