// Package clouds stands in for the services by which AWS, Google Cloud and Azure give a pod its identity and a token for
// their registries. It answers as they do to who asks as they want, and by error to anybody else.
package clouds
