// Package external is the step of the engine that puts the providers that come in images of their own into the
// configuration, over all others. What an image says of itself (package externalprovider) gives type and module; an image
// that says nothing leaves both open, and the last init container of the pod completes them.
package external
