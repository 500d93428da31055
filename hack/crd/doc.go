// Command crd finishes what controller-gen makes of the API's types: it adds the
// conversion webhook, for which there is no marker, and leaves out the descriptions below embedded Kubernetes types. They are most of the
// file, say what `kubectl explain pod` says, and with them the definition would
// not fit into the annotation that a plain `kubectl apply` writes.
package main
