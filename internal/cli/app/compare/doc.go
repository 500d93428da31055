// Package compare plans an edited stack and the running stack that it changes, from files. It also asks an API server
// whether it would accept the objects of a plan.
package compare
