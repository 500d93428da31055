// Package corpus makes the cases of the conformance tests: objects as users write them, for one release line each, from
// the data of that line. Cases has every provider type, storage kind, resource kind and disabled API, Random any number
// more, Strange unusual values that keys accept. Run takes a case through the pipeline of the controller and returns
// the configuration and the environment of the server, for a test with a real server. Negatives has a mistake for every
// check. Sweep has values that no key accepts, each with the configuration that the server would read without our
// check.
package corpus
