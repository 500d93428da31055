# Writes an in-toto statement: which commit, base image and toolchain the files come from. The input is the text of
# checksums.txt with a line for itself.
"\($project)/blob/\($commit)/hack/release" as $script | {
  _type: "https://in-toto.io/Statement/v1",
  subject: [split("\n")[] | select(. != "") | {name: .[66:], digest: {sha256: .[:64]}}],
  predicateType: "https://slsa.dev/provenance/v1",
  predicate: {
    buildDefinition: {
      buildType: $script, externalParameters: {version: $version},
      resolvedDependencies: [
        {uri: "git+\($project)", digest: {gitCommit: $commit}},
        ($image[0].annotations | {
          uri: "oci://\(.["org.opencontainers.image.base.name"] // error("the image has no base"))",
          digest: {sha256: .["org.opencontainers.image.base.digest"] | ltrimstr("sha256:")}
        })
      ]
    },
    runDetails: {builder: {id: $script, version: {go: $go}}, metadata: {finishedOn: $created}}
  }
}
