// Package upgrade provides a cluster for tests of the upgrade from the predecessor operator. It installs that
// operator's CustomResourceDefinition, or the current one with the test's conversion webhook, and reads the stored form
// of each stack from etcd.
package upgrade
