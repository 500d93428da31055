// Package cloud gets credentials for the registries of AWS, Google Cloud and Azure. It uses the identity that the cloud
// gives the operator's own pod. It keeps a token until shortly before the token expires, and all callers share the
// token. The services that give a pod its identity have addresses that no registry may have. Only this package sends
// requests to these addresses. All its other requests go to the clouds' own services, over HTTPS. Errors contain
// neither a token nor text that a remote host wrote.
package cloud
