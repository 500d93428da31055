// Package corpus makes the cases of the conformance tests: objects as users write
// them, for one release line each, out of the data of that line. Cases has every
// provider type, storage kind, resource kind and disabled API, Random any number
// more, Strange values that keys just take. Run takes a case through the pipeline
// of the controller and gives the configuration and the environment that a server
// would get, for whoever has a server to ask. Negatives has a mistake for every
// check, and Sweep values that no key takes, each with the configuration that the
// server would have to read if we did not tell.
package corpus
