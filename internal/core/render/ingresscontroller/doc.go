// Package ingresscontroller identifies ingress controllers by the names of their classes, and contains the annotations
// that make each controller connect to the server behind an Ingress over HTTPS.
package ingresscontroller
