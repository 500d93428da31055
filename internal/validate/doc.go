// Package validate says what is wrong with a LlamaStackDistribution before
// anything is made of it. It repeats in Go every rule that the API server holds
// by schema, CEL and admission policy, with the same messages, so that an object
// that passed none of them (an offline file, one stored before a rule was
// installed, a cluster without the policy) gets the same answer; and it holds the
// rules that CEL cannot. What depends on the server's release beyond the names of
// its APIs is package stackconfig's.
//
// One file holds the rules of one topic, a table in validate.go names them all,
// and every rule has cases from both sides in testdata/cases, which run against a
// real API server too.
package validate
