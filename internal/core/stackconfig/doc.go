// Package stackconfig generates the configuration of a server. Its input is the configuration of a distribution (the
// base), the user's intent (package intent) and the facts about one server release (package release). Its result is the
// config.yaml with which a server of this release starts, the environment variables that the configuration reads, and a
// report of errors, warnings and origins. The function Generate is pure, and no value of a Secret is part of its input.
//
// The list in generate.go defines the order of the steps. Package baseconfig reads the base, and the steps change a
// draft (package draft). The large steps are separate packages (such as providers, resources, storage and check), and
// the small steps are files in this package. encode.go encodes the result.
package stackconfig
