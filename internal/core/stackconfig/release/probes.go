package release

const (
	// HealthPath is the path of the health check. The server responds with 200 to a request for this path only after
	// everything is initialized (server fact 33). The request requires no authentication unless Runtime.HealthNeedsToken
	// is true.
	HealthPath = "/v1/health"
	// ReadinessPeriod is the time in seconds that the operator sets between two readiness probes. Package render writes
	// it, and package check compares it with quotas of the server.
	ReadinessPeriod = 10
)
