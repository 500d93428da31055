// Package stackconfig is the config engine. Its input is the configuration of a distribution (the base), the user's
// intent (package intent) and the facts about one server release (package release). It generates the config.yaml that
// this release starts with, the environment variables that the configuration reads, and a report of errors, warnings
// and origins. It is a pure function. A Secret's value never enters it.
//
// The list of steps in generate.go defines the order of the work. Package baseconfig reads the base, and the steps work
// on a package draft. The large steps are separate packages (providers, resources, storage, check), the small ones
// are files here, and encode.go writes the result.
package stackconfig
