// Command chart writes the files of the Helm chart that are copied from elsewhere: the CustomResourceDefinition, the
// admission policy, and the rules of each role. The templates add names, labels and conditions.
package main
