// Package upgrade is a cluster between two operators, for tests: the definition of
// the operator before, and today's with a conversion webhook of the test's own, and
// what etcd has of each stack.
package upgrade
