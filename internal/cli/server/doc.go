// Package server asks a running server for its health, version, providers and models, and for the answer of a model. It
// reads the answers of every release. Answers are bounded, and no error contains a token.
package server
