// Package state manages the directory of one running control plane: a record of what runs, a lock that its supervisor
// holds for as long as it lives, and the files of all components. A directory is only ever removed if its record shows
// that this tool created it.
package state
