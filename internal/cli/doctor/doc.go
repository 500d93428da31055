// Package doctor implements the command doctor. It prints the findings of package installation.
package doctor
