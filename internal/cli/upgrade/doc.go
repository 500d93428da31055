// Package upgrade implements the command upgrade-check. It compares the plans of a stack for two server releases, and
// lists the necessary actions, the data that the other release leaves behind, the changes for clients, and the changes
// that fields of the spec cause. It counts the changes that no field of the spec causes, and lists them on request.
package upgrade
