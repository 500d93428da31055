// Package clouds provides stand-ins for the services with which AWS, Google Cloud and Azure give a pod its identity and
// tokens for their registries. They answer correct requests as the services do, and any other request with an error.
package clouds
