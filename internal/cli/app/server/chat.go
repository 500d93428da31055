package server

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"regexp"
	"strings"
	"unicode"
)

const (
	chatPath = "/v1/chat/completions"
	// olderChatPath is the chat path in releases up to 0.2.
	olderChatPath = "/v1/openai/v1/chat/completions"
	// maxRefusal is the maximum number of bytes that the client reads from an error response.
	maxRefusal = 64 << 10
	// maxLine is the maximum size in bytes of one event in a streamed response.
	maxLine = 1 << 20
	// maxText is the maximum size in bytes of an answer's text.
	maxText = 16 << 20
)

// Question contains a question for a model.
type Question struct {
	// Model is the ID of the model.
	Model string
	// System contains instructions for the model. Empty means no instructions.
	System string
	// Text is the question.
	Text string
	// MaxTokens is the maximum number of tokens in the answer. Zero means the server's default.
	MaxTokens int
}

// request is the body of a request to a chat path.
type request struct {
	Model     string         `json:"model"`
	Messages  []conversation `json:"messages"`
	Stream    bool           `json:"stream"`
	MaxTokens int            `json:"max_tokens,omitempty"`
}

type conversation struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Chat sends a question, and writes each part of the answer when it arrives. It returns the reason why the answer
// ended, such as stop or length. The deadline of ctx applies to the whole answer.
func (c *Client) Chat(ctx context.Context, question Question, out io.Writer) (string, error) {
	messages := []conversation{{"user", question.Text}}
	if question.System != "" {
		messages = append([]conversation{{"system", question.System}}, messages...)
	}
	body, err := json.Marshal(
		request{Model: question.Model, Messages: messages, Stream: true, MaxTokens: question.MaxTokens},
	)
	if err != nil {
		return "", fmt.Errorf("encode the question: %w", err)
	}
	response, err := c.ask(ctx, question.Model, body)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	reader := &answer{model: question.Model, out: out}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		err = reader.stream(response.Body)
	} else {
		err = reader.whole(response.Body)
	}
	if err != nil && ctx.Err() != nil {
		err = &UnansweredError{Path: chatPath, Err: ctx.Err()}
	}
	return reader.reason, err
}

// ask sends the question to the chat path of the server's release. After the first status 500, it sends the question
// again, because servers of releases 1.0 and 1.1 return that status for the first question after they start.
func (c *Client) ask(ctx context.Context, model string, body []byte) (*http.Response, error) {
	path, again := chatPath, true
	for {
		response, err := c.do(ctx, http.MethodPost, path, bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		if response.StatusCode == http.StatusOK {
			return response, nil
		}
		content, _ := io.ReadAll(io.LimitReader(response.Body, maxRefusal)) // a message needs only a part of the body
		_ = response.Body.Close()
		switch code := response.StatusCode; {
		case path == chatPath && (code == http.StatusNotFound || code == http.StatusMethodNotAllowed) && isNoPath(content):
			path = olderChatPath
		case code == http.StatusInternalServerError && again:
			again = false
		case code >= http.StatusInternalServerError || ofProvider.MatchString(rawMessage(content)):
			return nil, modelError(model, code, rawMessage(content))
		default:
			return nil, refusal(path, code, content, c.token)
		}
	}
}

// ofProvider matches messages from the libraries that servers use to send requests to providers. Servers forward a
// provider's status, so status 401 may concern the provider's credentials.
var ofProvider = regexp.MustCompile(`\bError code: [45]\d\d\b`)

// isNoPath reports whether a response body means that the server does not serve the path. Such a body has no message,
// or a message that does not name a cause.
func isNoPath(body []byte) bool {
	text := strings.ToLower(rawMessage(body))
	return text == "" || text == "not found" || text == "method not allowed"
}

// answer reads a model's answer, and writes its text.
type answer struct {
	model   string
	out     io.Writer
	reason  string
	written int
}

// chunk is a part of a streamed response, or a whole response.
type chunk struct {
	Choices []struct {
		Delta        content `json:"delta"`
		Message      content `json:"message"`
		FinishReason string  `json:"finish_reason"`
	} `json:"choices"`
	Error json.RawMessage `json:"error"`
}

type content struct {
	Content string `json:"content"`
}

// stream reads server-sent events up to the event [DONE].
func (a *answer) stream(body io.Reader) error {
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data:")
		if data = strings.TrimSpace(data); !is || data == "" {
			continue
		}
		if data == "[DONE]" {
			return nil
		}
		if err := a.add([]byte(data)); err != nil {
			return err
		}
	}
	switch err := lines.Err(); {
	case err != nil:
		return fmt.Errorf("the answer is incomplete: %w", err)
	case a.reason == "":
		return errors.New("the answer is incomplete because the server closed the connection; look at the server log")
	}
	return nil
}

// whole reads a response that is not streamed.
func (a *answer) whole(body io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(body, maxAnswer))
	if err != nil {
		return fmt.Errorf("the answer is incomplete: %w", err)
	}
	return a.add(data)
}

// add writes the text of one event.
func (a *answer) add(data []byte) error {
	var part chunk
	if err := json.Unmarshal(data, &part); err != nil {
		return errors.New("the model's answer is not JSON; look at the server log")
	}
	if len(part.Error) > 0 && string(part.Error) != "null" {
		return modelError(a.model, 0, rawMessage(data))
	}
	for _, choice := range part.Choices {
		text := harmless(choice.Delta.Content + choice.Message.Content)
		if a.written += len(text); a.written > maxText {
			return fmt.Errorf("the answer has more than %d bytes; request a shorter answer", maxText)
		}
		if _, err := io.WriteString(a.out, text); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
		if choice.FinishReason != "" {
			a.reason = printable(choice.FinishReason)
		}
	}
	return nil
}

// harmless removes control characters, which could change the state of a terminal. It keeps line breaks and tabs.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, text)
}
