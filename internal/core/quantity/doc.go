// Package quantity bounds the texts that are parsed as Kubernetes quantities. A text of twelve bytes, such as
// 1e-999999999, is a valid quantity whose parser uses a core and gigabytes of memory for minutes. The definition has
// the same bounds for every quantity in it.
package quantity
