// Package distribution resolves the name of a distribution to an image, a server release and a base config. The
// catalog pins a tag for each name and release, and never uses `latest`: a newer server may reject the config of an
// older one, and an operator upgrade must not change the server of a running stack.
package distribution
