package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	slsa "github.com/in-toto/attestation/go/predicates/provenance/v1"
	intoto "github.com/in-toto/attestation/go/v1"
	spdxjson "github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx/v2/common"
	spdx "github.com/spdx/tools-golang/spdx/v2/v2_3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// writeSBOMs writes an SBOM for each archive of the command. ko writes those of the images.
func (r release) writeSBOMs() error {
	archives, err := r.archives()
	if err != nil {
		return err
	}
	for _, archive := range archives {
		data, err := os.ReadFile(archive)
		if err != nil {
			return err
		}
		info, err := programInfo(data)
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(archive), err)
		}
		var text bytes.Buffer
		document := r.sbom(filepath.Base(archive), digest(data), info)
		if err := spdxjson.Write(document, &text, spdxjson.Indent("  ")); err != nil {
			return err
		}
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.gz") + ".spdx.json"
		if err := r.write(filepath.Join("sbom", name), text.Bytes()); err != nil {
			return err
		}
	}
	return nil
}

// programInfo returns what the Go toolchain recorded in the program of an archive.
func programInfo(archive []byte) (*debug.BuildInfo, error) {
	unpacked, err := gzip.NewReader(bytes.NewReader(archive))
	if err != nil {
		return nil, err
	}
	for files := tar.NewReader(unpacked); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the archive has no program")
		}
		if err != nil {
			return nil, err
		}
		if name := strings.TrimSuffix(header.Name, ".exe"); name != "kubectl-llamastack" {
			continue
		}
		program, err := io.ReadAll(files)
		if err != nil {
			return nil, err
		}
		return buildinfo.Read(bytes.NewReader(program))
	}
}

// sbom describes an archive: it contains the program, which depends on modules and on the standard library.
func (r release) sbom(archive, sum string, info *debug.BuildInfo) *spdx.Document {
	document := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT", DocumentName: archive,
		DocumentNamespace: project + "/releases/download/" + r.version + "/" + archive + "/" + sum,
		CreationInfo: &spdx.CreationInfo{
			Created: r.time().Format(time.RFC3339),
			Creators: []common.Creator{
				{CreatorType: "Organization", Creator: product}, {CreatorType: "Tool", Creator: "hack/release"},
			},
		},
	}
	add := func(parent common.ElementID, relation string, each *spdx.Package) common.ElementID {
		each.PackageSPDXIdentifier = common.ElementID("Package-" + strconv.Itoa(len(document.Packages)))
		each.PackageDownloadLocation = "NOASSERTION"
		document.Packages = append(document.Packages, each)
		document.Relationships = append(document.Relationships, &spdx.Relationship{
			RefA: common.MakeDocElementID("", string(parent)), Relationship: relation,
			RefB: common.MakeDocElementID("", string(each.PackageSPDXIdentifier)),
		})
		return each.PackageSPDXIdentifier
	}
	packed := add(document.SPDXIdentifier, common.TypeRelationshipDescribe, &spdx.Package{
		PackageName: archive, PackageVersion: r.version, PackageFileName: archive, PrimaryPackagePurpose: "ARCHIVE",
		PackageChecksums: []common.Checksum{{Algorithm: common.SHA256, Value: sum}},
	})
	program := add(packed, common.TypeRelationshipContains, module(info.Path, r.version))
	add(program, common.TypeRelationshipDependsOn, module("stdlib", strings.TrimPrefix(info.GoVersion, "go")))
	for _, dependency := range info.Deps {
		if dependency.Replace != nil {
			dependency = dependency.Replace
		}
		add(program, common.TypeRelationshipDependsOn, module(dependency.Path, dependency.Version))
	}
	return document
}

// module returns a package of Go. Scanners find its vulnerabilities by its package URL.
func module(path, version string) *spdx.Package {
	return &spdx.Package{
		PackageName: path, PackageVersion: version,
		PackageExternalReferences: []*spdx.PackageExternalReference{{
			Category: common.CategoryPackageManager, RefType: common.TypePackageManagerPURL,
			Locator: "pkg:golang/" + path + "@" + version,
		}},
	}
}

const provenance = "provenance.json"

// writeProvenance writes an in-toto statement: which commit, and which toolchain, the files come from.
func (r release) writeProvenance() error {
	checksums, err := os.ReadFile(filepath.Join(r.folder, "checksums.txt"))
	if err != nil {
		return err
	}
	statement := &intoto.Statement{Type: intoto.StatementTypeUri, PredicateType: "https://slsa.dev/provenance/v1"}
	for line := range strings.Lines(string(checksums) + digest(checksums) + "  checksums.txt") {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		statement.Subject = append(statement.Subject, &intoto.ResourceDescriptor{
			Name: file, Digest: map[string]string{"sha256": sum},
		})
	}
	predicate, err := r.predicate()
	if err != nil {
		return err
	}
	if statement.Predicate, err = asStruct(predicate); err != nil {
		return err
	}
	text, err := canonical(statement)
	if err != nil {
		return err
	}
	return r.write(provenance, text)
}

func (r release) predicate() (*slsa.Provenance, error) {
	archives, err := r.archives()
	if err != nil {
		return nil, err
	}
	if len(archives) == 0 {
		return nil, errors.New("the release has no archive of the command")
	}
	data, err := os.ReadFile(archives[0])
	if err != nil {
		return nil, err
	}
	info, err := programInfo(data)
	if err != nil {
		return nil, err
	}
	parameters, err := structpb.NewStruct(map[string]any{"version": r.version})
	if err != nil {
		return nil, err
	}
	return &slsa.Provenance{
		BuildDefinition: &slsa.BuildDefinition{
			BuildType:          project + "/blob/" + r.commit + "/hack/release",
			ExternalParameters: parameters,
			ResolvedDependencies: []*intoto.ResourceDescriptor{
				{Uri: "git+" + project, Digest: map[string]string{"gitCommit": r.commit}},
			},
		},
		RunDetails: &slsa.RunDetails{
			Builder: &slsa.Builder{
				Id:      project + "/blob/" + r.commit + "/hack/release",
				Version: map[string]string{"go": info.GoVersion},
			},
			Metadata: &slsa.BuildMetadata{FinishedOn: timestamppb.New(r.time())},
		},
	}, nil
}

func asStruct(message proto.Message) (*structpb.Struct, error) {
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	out := &structpb.Struct{}
	return out, protojson.Unmarshal(text, out)
}

// canonical returns JSON that is the same in every run. The spaces of protojson depend on the program.
func canonical(message proto.Message) ([]byte, error) {
	text, err := protojson.Marshal(message)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
