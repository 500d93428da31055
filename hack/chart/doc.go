// Command chart writes the files of the Helm chart that are not the chart's own: the definition, the policy and the rules
// of each role, from where they are written for everybody. The templates give them names, labels and conditions.
package main
