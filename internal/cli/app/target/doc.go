// Package target connects a command to the server of a stack, through a port that is forwarded to a pod.
package target
