// Package settingpath names the values of a server's configuration by their paths. IDs identify the entries of a list,
// so that a path does not change when the order of a list changes. An example of a path is
// providers.inference[vllm].config.url.
package settingpath
