// Package ingresscontroller identifies ingress controllers by the names of their classes, and contains the annotations
// that make each controller use HTTPS to the server behind an Ingress.
package ingresscontroller
