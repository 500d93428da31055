// Package layout arranges text for a terminal of any width. It wraps sentences, aligns tables and draws trees. A width
// of zero means that the output is not a terminal. In this case, the package does not wrap text, so that programs can
// read each row as a line.
package layout
