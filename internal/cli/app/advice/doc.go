// Package advice lays out messages for a terminal. Messages name a problem first, because most of them are read in a
// list. On a terminal, the remedy comes first, and long lists are cut to the names that the user may have meant.
package advice
