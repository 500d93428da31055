// Package hosts finds, in the caches, the stacks that use or request a host name, and the objects that expose them.
package hosts
