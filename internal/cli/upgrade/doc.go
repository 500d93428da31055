// Package upgrade reports the effects of a different server release on a stack. It compares the plans for both
// releases, and lists the necessary actions, the data that the other release leaves behind, and the changes for
// clients. It counts the changes that no field of the spec causes, and lists them on request.
package upgrade
