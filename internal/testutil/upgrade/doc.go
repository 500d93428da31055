// Package upgrade provides a cluster between two operators, for tests: the definition of the predecessor operator, the
// current definition with a conversion webhook of the test, and the stored form of each stack in etcd.
package upgrade
