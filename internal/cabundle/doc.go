// Package cabundle makes the certificates that a server trusts in outgoing calls: those of the user, read strictly with
// the place of each mistake, and the roots of the public web that are compiled into the operator. The same certificates
// give the same bytes, whatever their order and however often they are there. It also tells by what clients can trust a
// server: the names in its certificate, and who signed it.
package cabundle
