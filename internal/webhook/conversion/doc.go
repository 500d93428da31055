// Package conversion is the webhook that an API server asks for an object in
// another version. It handles a ConversionReview as a stream: one object at a
// time is read, converted and written. An API server puts a whole list into one
// review, whose size has no bound; the memory that a review takes is bound by the
// largest object in it.
package conversion
