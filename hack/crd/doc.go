// Command crd completes the definition that controller-gen generates from the API's types. It adds the conversion
// webhook, for which there is no marker, and removes the descriptions below embedded Kubernetes types. These are most
// of the file and repeat `kubectl explain pod`. With them the definition would not fit into the annotation that a plain
// `kubectl apply` writes.
package main
