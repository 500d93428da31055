// Package eventlist selects the events of a stack and its objects, and sums up those that are equal.
package eventlist
