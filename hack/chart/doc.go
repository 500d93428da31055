// Command chart writes the parts of the Helm chart that come from the folder config: the CustomResourceDefinition, the
// admission policy and its binding, the validating webhooks, and the rules of each role. The templates add names,
// labels and conditionals.
package main
