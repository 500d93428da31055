// Package cloud gives the credentials of a cloud's registries by the identity that the cloud gives the operator's own pod:
// those of AWS, Google Cloud and Azure. A token is kept until shortly before it expires and is shared by all who ask. The
// services that give a pod its identity have addresses that no registry may have; only this package reaches them, and it
// asks nobody else but the clouds' own services over HTTPS. Errors hold neither a token nor anything that a remote host
// wrote.
package cloud
