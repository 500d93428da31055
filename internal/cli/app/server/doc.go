// Package server reads the models of a running server, and sends questions to models. It supports the API of every
// release. It limits the size of responses, and no error contains a token.
package server
