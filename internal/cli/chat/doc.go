// Package chat implements the command chat. It sends a question to a model of a stack.
package chat
