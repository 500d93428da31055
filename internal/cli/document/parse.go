package document

import "fmt"

// MaxBytes bounds one input. etcd rejects objects a fraction of this size, so a larger file is a mistake, such as a
// model or an archive, and is reported as such.
const MaxBytes = 16 << 20

// Parse returns the documents of a text. File is its path, or "-" for standard input. Listed reports whether the file
// was found in a folder. Text that is not a document is returned with its problem.
func Parse(file string, data []byte, listed bool) []Document {
	if len(data) > MaxBytes {
		problem := fmt.Sprintf("is larger than %d MiB, the limit for a manifest", MaxBytes>>20)
		return []Document{{File: file, Listed: listed, Line: 1, Origin: originOf(file, nil), Problem: problem}}
	}
	return splitDocuments(file, data, listed)
}

// Generated returns the documents of a text that another program generated. Origin names that program and its input,
// and is the file of the documents.
func Generated(origin string, data []byte) []Document {
	documents := splitDocuments(origin, data, false)
	for i := range documents {
		documents[i].Origin = origin
	}
	return documents
}
