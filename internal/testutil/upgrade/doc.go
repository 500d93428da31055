// Package upgrade provides a cluster for tests of the upgrade from the predecessor operator. It installs the definition
// of that operator, or the current definition with the test's conversion webhook, and reads the stored form of each
// stack from etcd.
package upgrade
