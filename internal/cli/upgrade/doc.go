// Package upgrade reports the effects of a different server release on a stack. It compares the plans for both
// releases, and lists the necessary actions, the data that the other release leaves behind, the changes for clients,
// and the changes that fields of the spec cause. It counts the changes that no field of the spec causes, and lists them
// on request.
package upgrade
