// Package scrape decides who can read the operator's metrics. It asks the API server to authenticate and authorize each
// client, and bounds the number of questions that clients with wrong tokens can cause.
package scrape
