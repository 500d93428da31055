// Package ingresscontroller knows the programs that serve Ingresses by the names of their classes, and how each is told
// that the server behind an Ingress speaks HTTPS.
package ingresscontroller
