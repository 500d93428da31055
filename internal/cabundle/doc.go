// Package cabundle assembles the certificates that a server trusts in outgoing calls: those of the user, read strictly
// with the position of each mistake, and the public web's root certificates, which are compiled into the operator. The
// same certificates give the same bytes, in any order and with any duplicates. The package also determines how clients
// can trust a server: the names in its certificate, and who signed it.
package cabundle
