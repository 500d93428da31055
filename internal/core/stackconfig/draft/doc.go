// Package draft holds a configuration while it is generated: the tree that the steps of package stackconfig change, the
// origin of each value, the variables that the configuration reads, and the findings. Resolve is the first step, which
// finds the providers in the base. The other steps write every value through a Draft.
package draft
