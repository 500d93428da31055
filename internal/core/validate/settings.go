package validate

import (
	"regexp"
)

var dottedForm = regexp.MustCompile(`^[^.[:space:]]+([.][^.[:space:]]+)*$`)

const (
	maxRemoved       = 64
	maxRemovedLength = 256
)

// removeSettingsPath checks the number and the form of the paths, and rejects duplicates. Package intent checks which
// paths are allowed.
func removeSettingsPath(c *checks) {
	path, removed := spec("removeSettings"), c.Spec.RemoveSettings
	c.atMost(path, len(removed), maxRemoved)
	c.notEmpty(path, removed != nil, len(removed))
	seen := map[string]bool{}
	for i, text := range removed {
		switch {
		case len(text) > maxRemovedLength:
			c.tooLong(path.Index(i), text, maxRemovedLength)
		case !dottedForm.MatchString(text):
			c.InvalidText(path.Index(i), text, `is not a dotted path: write a path such as server.quota`)
		case seen[text]:
			c.duplicate(path.Index(i), text)
		}
		seen[text] = true
	}
}
