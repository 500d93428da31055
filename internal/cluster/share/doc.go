// Package share divides what all namespaces use together, such as workers and memory, so that the objects of one
// namespace do not delay those of another. A namespace uses at most its share, and waiting namespaces take turns.
package share
