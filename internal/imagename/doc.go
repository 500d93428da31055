// Package imagename compares the names of images with registries and repositories that an administrator writes. One place
// of images has many spellings: docker.io/library/nginx, index.docker.io/nginx and nginx are one repository. Names have one
// normal form here: the host in lower case, and Docker Hub as index.docker.io, the name that it is asked by.
package imagename
