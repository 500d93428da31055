// Package state manages the directory of one running control plane: a record of the running processes, a lock that the
// supervisor holds while the control plane runs, and the files of all components. The package removes a directory only
// if the record shows that this tool created it, or if the directory contains no files other than those that this tool
// writes before the record.
package state
