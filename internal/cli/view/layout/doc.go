// Package layout arranges text for a terminal of any width: it wraps sentences, aligns tables and draws trees. A width
// of zero means that the output is not a terminal, so that nothing is wrapped and programs can read a row a line.
package layout
