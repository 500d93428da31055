// Package facts contains the rules about what is known of one stack: which image and release a running stack keeps,
// when it keeps its base configuration, which ConfigMaps it reads, and whether the value of a Secret is usable. The
// operator, its webhook and the command line read objects in different ways, and then apply these rules.
package facts
