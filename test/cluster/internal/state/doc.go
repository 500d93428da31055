// Package state manages the directory of one running control plane: a record of what runs, a lock that its supervisor
// holds while it runs, and the files of all components. The package removes a directory only if the record shows that
// this tool created it.
package state
