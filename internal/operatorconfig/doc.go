// Package operatorconfig reads the operator's own ConfigMap, strictly: each key
// holds YAML, what nobody reads is an error, and a key that cannot be read keeps
// what it said when it last could.
package operatorconfig
