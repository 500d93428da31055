// Command chart writes the files of the Helm chart that it copies from config: the CustomResourceDefinition, the
// admission policy and its binding, the validating webhooks, and the rules of each role. The templates add names,
// labels and conditions.
package main
