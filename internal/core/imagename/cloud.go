package imagename

import "regexp"

// Cloud is the common name of a cloud that has its own registries.
type Cloud string

// These are the clouds whose registries can be identified by their hosts.
const (
	AWS    Cloud = "AWS"
	Google Cloud = "Google Cloud"
	Azure  Cloud = "Azure"
)

// clouds lists, for each cloud, the hosts of the registries that only this cloud can serve. The operator may send
// tokens to these hosts. Public registries such as public.ecr.aws are not listed, because reading them requires no
// credentials.
var clouds = []struct {
	cloud Cloud
	hosts *regexp.Regexp
}{
	{AWS, regexp.MustCompile(`^[0-9]{12}\.dkr(\.ecr(-fips)?\.[a-z0-9-]+\.amazonaws\.(com|com\.cn|eu)|-ecr(-fips)?\.[a-z0-9-]+\.on\.(aws|amazonwebservices\.com\.cn))$`)},
	{Google, regexp.MustCompile(`^(([a-z0-9-]+\.)?gcr\.io|[a-z0-9-]+-docker\.pkg\.dev)$`)},
	{Azure, regexp.MustCompile(`^[a-z0-9-]+\.azurecr\.(io|cn|us)$`)},
}

// CloudForms describes the most common of the hosts that CloudOf recognizes, for messages.
const CloudForms = "<account>.dkr.ecr.<region>.amazonaws.com, <location>-docker.pkg.dev, gcr.io or <name>.azurecr.io"

// CloudOf returns the cloud of a registry if only that cloud can serve the registry. The name of the registry must be
// in its normal form. CloudOf returns false for all other registries.
func CloudOf(registry string) (Cloud, bool) {
	for _, one := range clouds {
		if one.hosts.MatchString(registry) {
			return one.cloud, true
		}
	}
	return "", false
}
