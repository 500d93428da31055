// Package imagename compares the names of images with registries and repositories that an administrator writes. The
// name of an image has many spellings: docker.io/library/nginx, index.docker.io/nginx and nginx are the same
// repository. The normal form of a name has the host in lower case. For Docker Hub, the host is index.docker.io, as in
// requests.
package imagename
