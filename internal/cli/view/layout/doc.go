// Package layout arranges text for a terminal of any width. It wraps sentences, aligns tables and draws trees. A width
// of zero means that the output is not a terminal. It then wraps no text, so that programs can read each row as a line.
package layout
