// Package models implements the command models. It lists the models of a stack, from its configuration or from its
// server.
package models
