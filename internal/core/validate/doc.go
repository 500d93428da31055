// Package validate checks a LlamaStackDistribution before it is processed. It repeats in Go every rule that the API
// server checks with the schema, CEL and the admission policy. These rules then also apply to an object that the API
// server has not checked: a file, an object that was stored before a rule existed, or an object in a cluster without
// the policy (decision 0008). The package also contains the rules that CEL cannot express. Rules that depend on the
// server's release, beyond the names of its APIs, are in package stackconfig.
//
// Each file contains the rules of one topic, and a table in validate.go lists all rules. Every rule has accepted and
// rejected cases in testdata/cases, which also run against a real API server.
package validate
