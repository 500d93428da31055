package modelserver

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/http"
)

// texts is the input of a request for vectors. In JSON, it is one string or a list of strings.
type texts []string

// UnmarshalJSON reads both forms.
func (t *texts) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = texts{one}
		return nil
	}
	return json.Unmarshal(data, (*[]string)(t))
}

// embed answers with a vector for each text.
func (s *Server) embed(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string `json:"model"`
		Input    texts  `json:"input"`
		Encoding string `json:"encoding_format"`
	}
	if !read(w, r, &request) {
		return
	}
	s.observe(r, request.Model)
	entries := []any{}
	for i, text := range request.Input {
		vector := vectorOf(text, s.Dimension)
		var written any = vector
		if request.Encoding == "base64" {
			var data []byte
			for _, value := range vector {
				data = binary.LittleEndian.AppendUint32(data, math.Float32bits(value))
			}
			written = base64.StdEncoding.EncodeToString(data)
		}
		entries = append(entries, object{"object": "embedding", "index": i, "embedding": written})
	}
	write(w, object{
		"object": "list", "data": entries, "model": request.Model, "usage": object{"prompt_tokens": 1, "total_tokens": 1},
	})
}

// vectorOf returns a vector that depends only on the text. Its Euclidean norm is one.
func vectorOf(text string, dimension int) []float32 {
	digest := sha256.Sum256([]byte(text))
	vector := make([]float32, dimension)
	var square float64
	for i := range vector {
		if i > 0 && i%len(digest) == 0 {
			digest = sha256.Sum256(digest[:])
		}
		vector[i] = 1 + float32(digest[i%len(digest)])
		square += float64(vector[i]) * float64(vector[i])
	}
	for i := range vector {
		vector[i] /= float32(math.Sqrt(square))
	}
	return vector
}
