// Package stackconfig is the config engine: from the configuration a distribution comes with (the base), what the user
// wishes (package intent) and the facts about one server release (package release) it generates the config.yaml that this
// very release boots with, the environment that feeds it, and a report of everything worth telling. It is a pure function;
// a Secret's value never enters it.
//
// The way through is the list of steps in generate.go. Package baseconfig reads the base, and package draft is what the
// steps work on. The large steps are packages of their own (providers, resources, storage, check), the small ones files
// here, and encode.go writes the result down.
package stackconfig
