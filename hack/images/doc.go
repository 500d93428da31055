// Command images writes dist/images.txt: every image that an installation may pull, one a line, with comments on what it is
// for. The operator's image comes from the manifests, the servers' from the catalogue.
package main
