// Command images writes dist/images.txt: every image that an installation can pull, one per line, with comments on its
// use. The operator's image comes from the manifests, and the images of the servers come from the catalog.
package main
