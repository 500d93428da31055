// Package refusal explains why the API server rejects an object that the operator renders for a stack. It finds the
// field of the spec from which the rejected field comes, so that the status, the webhook and the command line name the
// same field in the same words.
package refusal
