// Package cloud gets credentials for the registries of AWS, Google Cloud and Azure by the identity that the cloud gives
// the operator's own pod. A token is kept until shortly before it expires, and all callers share it. The services that
// give a pod its identity have addresses that no registry may have. Only this package reaches them, and apart from them
// it sends requests only to the clouds' own services, over HTTPS. Errors contain neither a token nor text that a remote
// host wrote.
package cloud
