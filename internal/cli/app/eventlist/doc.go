// Package eventlist selects the events of a stack and its objects, and combines equal events.
package eventlist
