// Package redact withholds secret values in text, objects and configurations that leave a cluster. Objects and
// configurations show only the text at the known-good places that the tables in places.go list. In free text, such as a
// log, the package recognizes secrets by the name before them, by their form (such as a bearer token), and by
// comparison with values that are secret or withheld elsewhere.
package redact
