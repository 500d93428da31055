// Package state keeps the folder of one running control plane: a record of
// what runs, a lock that its supervisor holds for as long as it lives, and
// everything the components write. A folder is only ever removed when its
// record shows that this tool made it.
package state
