// Command flags writes the table of the operator's options into the page about them, from the flags of the program. The
// table replaces the lines between two comments of the page.
package main
