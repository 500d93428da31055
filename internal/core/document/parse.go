package document

import "fmt"

// MaxBytes is the maximum size of one input. etcd rejects even much smaller objects, so a larger file is a mistake, for
// example a model or an archive.
const MaxBytes = 8 << 20

// Parse returns the documents in a text. `file` is the path of the text, or StandardInput. `listed` reports whether the
// user named a folder that contains the file. For a text that is not a document, Parse returns a Document with the
// problem.
func Parse(file string, data []byte, listed bool) []Document {
	if len(data) > MaxBytes {
		problem := fmt.Sprintf("is larger than %d MiB, the limit for a manifest; write its objects to several files", MaxBytes>>20)
		return []Document{{File: file, Listed: listed, Line: 1, Origin: originOf(file, nil), Problem: problem}}
	}
	return splitDocuments(file, data, listed)
}

// Generated returns the documents in a text that another program generated. `origin` names the program and its input,
// and replaces the path of a file.
func Generated(origin string, data []byte) []Document {
	documents := splitDocuments(origin, data, false)
	for i := range documents {
		documents[i].Origin = origin
	}
	return documents
}
