// Package corpus creates the cases of the conformance tests from the data of the release lines. A case is an object as
// a user writes it, for one release line. Cases returns cases with every provider type, storage kind, resource kind and
// disabled API. Random returns any number of random cases, and Strange returns cases with unusual values that keys
// accept. Run runs the pipeline of the controller for a case, and returns the configuration and the environment of the
// server, for a test with a real server. Negatives returns mistakes that the checks report, and Sweep returns values
// that the keys do not accept. Each mistake contains the configuration that the server would read without the check. In
// the comments, "the engine" means the code of package stackconfig and of the packages below it.
package corpus
