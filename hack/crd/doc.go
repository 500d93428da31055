// Command crd completes the definition that controller-gen generates from the API's types. It adds the conversion
// webhook, and the bounds of quantities and of free-form objects, for which there are no markers. It removes the
// descriptions below embedded Kubernetes types. These descriptions would make up most of the file, and are the same as
// in `kubectl explain pod`. With them, the definition would not fit into the annotation that `kubectl apply` writes
// without server-side apply.
package main
