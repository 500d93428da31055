// Package corpus creates the cases of the conformance tests: objects as users write them, each for one release line,
// from the data of that line. Cases returns cases with every provider type, storage kind, resource kind and disabled
// API. Random returns any number of random cases, and Strange returns unusual values that keys accept. Run runs the
// pipeline of the controller for a case, and returns the configuration and the environment of the server, for a test
// with a real server. Negatives returns a mistake for every check. Sweep returns values that no key accepts, each with
// the configuration that the server would read without the check.
package corpus
