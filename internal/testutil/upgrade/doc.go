// Package upgrade provides a cluster for tests of the upgrade from the predecessor operator: the definition of that
// operator, the current definition with a conversion webhook of the test, and the stored form of each stack in etcd.
package upgrade
