// Package events implements the command events. It prints the events of a stack and its objects.
package events
