// Package planner reads from a cluster the facts that a plan of a stack needs, with the permissions of the caller. It
// records the facts that are not known.
package planner
