# Describes an archive of the command in SPDX 2.3: it contains the program, which depends on modules and on the standard
# library. The input is what `go version -m -json` prints about the program.
def package: {
  name: .Path, versionInfo: .Version,
  # Scanners find the vulnerabilities of a module by its package URL.
  externalRefs: [{
    referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: "pkg:golang/\(.Path)@\(.Version)"
  }]
};
[
  {
    name: $archive, versionInfo: $version, packageFileName: $archive, primaryPackagePurpose: "ARCHIVE",
    checksums: [{algorithm: "SHA256", checksumValue: $sum}]
  },
  ({Path, Version: $version}, {Path: "stdlib", Version: .GoVersion | ltrimstr("go")}, (.Deps[] | .Replace // .) | package)
] | to_entries | map({SPDXID: "SPDXRef-Package-\(.key)"} + .value + {
  downloadLocation: "NOASSERTION", filesAnalyzed: false
}) | {
  spdxVersion: "SPDX-2.3", dataLicense: "CC0-1.0", SPDXID: "SPDXRef-DOCUMENT", name: $archive,
  documentNamespace: "\($project)/releases/download/\($version)/\($archive)/\($sum)",
  creationInfo: {created: $created, creators: ["Organization: llama-stack-k8s-operator", "Tool: hack/release"]},
  packages: .,
  relationships: ([
    {spdxElementId: "SPDXRef-DOCUMENT", relationshipType: "DESCRIBES", relatedSpdxElement: .[0].SPDXID},
    {spdxElementId: .[0].SPDXID, relationshipType: "CONTAINS", relatedSpdxElement: .[1].SPDXID}
  ] + (.[1].SPDXID as $program | .[2:] | map({
    spdxElementId: $program, relationshipType: "DEPENDS_ON", relatedSpdxElement: .SPDXID
  })))
}
