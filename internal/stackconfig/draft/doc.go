// Package draft holds a configuration while it is generated: the tree that the steps of the engine work on, the origin
// of each value, the variables that it reads, and the findings. Resolve, its first step, finds the providers of the
// base. The other steps are separate packages, and they write every value through a Draft.
package draft
