// Package external is the step of the engine that writes the providers that have their own images into the
// configuration, over all others. The metadata in the image (package externalprovider) contains the type and the
// module. Without metadata, both stay open, and the last init container of the pod completes them.
package external
