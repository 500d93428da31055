// Package startup holds what runs in a pod before the server starts: a program in Python, for the image's own Python, that
// brings the server's registry in line with the configuration. Files returns it with the facts by release line that it
// needs. The program knows no release: releases.json is made of the release data.
package startup
