// Command flags generates the table of the operator's options from the binary's flags, and writes the table into the
// page about the options. The table replaces the lines between two comments on the page.
package main
