// Package nesting cuts JSON that is nested too deeply.
package nesting
