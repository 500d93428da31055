// Package imagename compares the names of images with registries and repositories that an administrator writes. An
// image has many spellings: docker.io/library/nginx, index.docker.io/nginx and nginx are the same repository. Names
// have one normal form here: the host in lower case, and Docker Hub as index.docker.io, the name that requests use.
package imagename
