// Package plan is the one call that both the controller and the command line make: Build turns a stack and the facts
// that were read for it into the configuration, the environment and the objects, without touching the world.
package plan
