// Package draft is a configuration in the making: the tree that the steps of the engine work on, where each of its values
// comes from, the variables that it reads, and what is told about it. Its first step, Resolve, finds out which providers
// the base has. The other steps are packages beside this one; they write every value through a Draft.
package draft
