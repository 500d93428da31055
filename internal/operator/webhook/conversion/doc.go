// Package conversion implements the conversion webhook. It handles a ConversionReview as a stream: it reads, converts
// and writes one object at a time. An API server puts a whole list into one review, whose size is not bounded. The
// memory for a review is bounded by the largest object in it.
package conversion
