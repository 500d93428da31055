// Package trial asks the API server whether it would accept the objects of a stack. It sends them as a dry run, which
// stores nothing. Only an answer that depends on the objects alone is an error. An answer that depends on the state of
// the cluster, such as a quota or a webhook, is a warning.
package trial
