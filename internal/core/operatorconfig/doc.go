// Package operatorconfig reads the operator's own ConfigMap strictly. Each key holds YAML, unknown fields are errors,
// and a key that cannot be read keeps its last valid value.
package operatorconfig
