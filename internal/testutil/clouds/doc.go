// Package clouds provides stand-ins for the services from which a pod gets its identity and registry tokens in AWS,
// Google Cloud and Azure. The stand-ins answer correct requests as the services do, and all other requests with an
// error.
package clouds
