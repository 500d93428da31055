// Package validate checks a LlamaStackDistribution before it is processed. It repeats in Go every rule that the API
// server checks by schema, CEL and admission policy, with the same messages, so that an object that passed none of them
// (an offline file, an object stored before a rule was installed, a cluster without the policy) gets the same answer
// (decision 0008). It also contains the rules that CEL cannot express. Rules that depend on the server's release,
// beyond the names of its APIs, belong to package stackconfig.
//
// Each file contains the rules of one topic, and a table in validate.go lists all rules. Every rule has accepted and
// rejected cases in testdata/cases, which also run against a real API server.
package validate
