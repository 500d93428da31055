package imagename

import "regexp"

// Cloud is one that has registries of its own, by the name that people know it by.
type Cloud string

// Clouds whose registries are told by their hosts.
const (
	AWS    Cloud = "AWS"
	Google Cloud = "Google Cloud"
	Azure  Cloud = "Azure"
)

// clouds are the hosts of registries that only the cloud itself can serve. Whoever adds one sends tokens there. Public
// registries, as public.ecr.aws, are not among them: nobody needs a token to read them.
var clouds = []struct {
	cloud Cloud
	hosts *regexp.Regexp
}{
	{AWS, regexp.MustCompile(`^[0-9]{12}\.dkr(\.ecr(-fips)?\.[a-z0-9-]+\.amazonaws\.(com|com\.cn|eu)|-ecr(-fips)?\.[a-z0-9-]+\.on\.(aws|amazonwebservices\.com\.cn))$`)},
	{Google, regexp.MustCompile(`^(([a-z0-9-]+\.)?gcr\.io|[a-z0-9-]+-docker\.pkg\.dev)$`)},
	{Azure, regexp.MustCompile(`^[a-z0-9-]+\.azurecr\.(io|cn|us)$`)},
}

// CloudForms are the hosts that CloudOf knows, as people write them.
const CloudForms = "<account>.dkr.ecr.<region>.amazonaws.com, <location>-docker.pkg.dev, gcr.io or <name>.azurecr.io"

// CloudOf returns the cloud that alone can serve a registry, which is in its normal form. False: no cloud that is known.
func CloudOf(registry string) (Cloud, bool) {
	for _, one := range clouds {
		if one.hosts.MatchString(registry) {
			return one.cloud, true
		}
	}
	return "", false
}
