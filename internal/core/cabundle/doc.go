// Package cabundle assembles the certificates that a server trusts in outgoing calls: the user's certificates, and the
// public root certificates, which are compiled into the operator. It reads the user's certificates strictly and reports
// the position of each mistake. The same set of certificates always produces the same bytes, regardless of order and
// duplicates. The package also determines how clients can verify a server: by the names in its certificate, and by the
// authority that signed the certificate.
package cabundle
