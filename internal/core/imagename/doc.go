// Package imagename compares image names with registries and repositories that an administrator lists. An image name
// can have several forms: docker.io/library/nginx, index.docker.io/nginx and nginx refer to the same repository. The
// normal form of a name has the host in lower case. For Docker Hub, the host is index.docker.io, as in requests.
package imagename
