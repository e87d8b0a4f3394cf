package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
)

// Members of a row, by what they become. A text may be in any of texts.
//
//	prompt text text_input input    the text; for completions and embeddings also a list
//	messages                        the whole conversation, sent unchanged
//	image                           URL or data URI, or a list of them: parts of the last message
//	audio                           "format,base64", or a list of them: parts of the last message
//	output_tokens                   the limit of output tokens, as the endpoint names it
//	exact_output                    true or "auto": exactly output_tokens tokens, see length.go
//	query, and passages, documents  of rankings; the list's name decides the shape of the request
//	or texts
//
// Any other member goes into the body unchanged.
var texts = []string{"prompt", "text", "text_input", "input"}

// row is a row of data whose members are taken one by one.
type row struct {
	members []backends.Member
	taken   []bool
}

func newRow(members []backends.Member) *row {
	return &row{members: members, taken: make([]bool, len(members))}
}

// take returns the value of the first of these members and the name; nil: there is none, or it is null.
func (r *row) take(names ...string) (value []byte, name string) {
	for _, name := range names {
		for i := range r.members {
			if m := &r.members[i]; m.Name == name {
				r.taken[i] = true
				if string(m.Value) != "null" {
					return m.Value, name
				}
			}
		}
	}
	return nil, ""
}

// peek returns the value of a member without taking it; nil: there is none, or it is null.
func (r *row) peek(name string) []byte {
	for i := range r.members {
		if m := &r.members[i]; m.Name == name && string(m.Value) != "null" {
			return m.Value
		}
	}
	return nil
}

// text takes the text of the row. Two members of the row that are both texts are a mistake.
func (r *row) text() ([]byte, error) {
	value, name := r.take(texts...)
	if value == nil {
		return nil, fmt.Errorf("the row has no text: name it %s", strings.Join(texts, ", "))
	}
	if other, second := r.take(slices.DeleteFunc(slices.Clone(texts),
		func(s string) bool { return s == name })...); other != nil {
		return nil, fmt.Errorf("the row has its text twice, as %q and as %q", name, second)
	}
	return value, nil
}

// rest returns the members that were not taken.
func (r *row) rest() (list []backends.Member) {
	for i, m := range r.members {
		if !r.taken[i] {
			list = append(list, m)
		}
	}
	return list
}

// generate makes a request for text.
func (o *object) generate(endpoint string, r *row) error {
	if list, _ := r.take("messages"); list != nil && endpoint != completions {
		if list[0] != '[' {
			return fmt.Errorf("messages must be a list, found %s", jsonscan.Kind(list))
		}
		return o.converse(endpoint, r, list)
	}
	return o.prompt(endpoint, r)
}

// converse takes a whole conversation. Images and audio of the row go behind the content of its last message.
func (o *object) converse(endpoint string, r *row, list []byte) error {
	media, err := r.media(endpoint)
	if err != nil {
		return err
	}
	if media == nil {
		o.set(conversation(endpoint), list)
		return nil
	}
	var all []json.RawMessage
	var last map[string]json.RawMessage
	if json.Unmarshal(list, &all) != nil || len(all) == 0 || json.Unmarshal(all[len(all)-1], &last) != nil ||
		len(last["content"]) == 0 {
		return errors.New("images and audio belong to the last message, and that has no content")
	}
	if last["content"], err = withMedia(endpoint, last["content"], media); err != nil {
		return err
	}
	if all[len(all)-1], err = encoded(last); err != nil {
		return err
	}
	return o.put(conversation(endpoint), all)
}

// conversation returns the name of the list of messages.
func conversation(endpoint string) string {
	if endpoint == responses {
		return "input"
	}
	return "messages"
}

// prompt makes the conversation, or the prompt, of a text.
func (o *object) prompt(endpoint string, r *row) error {
	text, err := r.text()
	if err != nil {
		return err
	}
	if endpoint == completions {
		o.set("prompt", text)
		return nil
	}
	if endpoint == responses && text[0] == '[' { // a conversation, as its own API has it
		return o.converse(endpoint, r, text)
	}
	if text[0] != '"' {
		return fmt.Errorf("the text must be a string, found %s", jsonscan.Kind(text))
	}
	media, err := r.media(endpoint)
	if err != nil {
		return err
	}
	content, err := withMedia(endpoint, text, media)
	if err != nil {
		return err
	}
	o.set(conversation(endpoint), slices.Concat([]byte(`[{"role":"user","content":`), content, []byte(`}]`)))
	return nil
}

// media returns the parts of a message for the row's images and audio.
func (r *row) media(endpoint string) (parts []any, err error) {
	images, err := r.list("image")
	if err != nil {
		return nil, err
	}
	sounds, err := r.list("audio")
	if err != nil {
		return nil, err
	}
	for _, image := range images {
		part, err := imagePart(endpoint, image)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for _, sound := range sounds {
		format, data, ok := strings.Cut(sound, ",")
		if !ok || endpoint != chat {
			return nil, errors.New(`audio is "format,base64", and only endpoint chat takes it`)
		}
		parts = append(parts, map[string]any{
			"type": "input_audio", "input_audio": map[string]any{"data": data, "format": format},
		})
	}
	return parts, nil
}

// withMedia puts images and audio behind the content of a message: its text, or a list of parts.
func withMedia(endpoint string, content []byte, media []any) ([]byte, error) {
	if len(media) == 0 {
		return content, nil
	}
	kind := "text"
	if endpoint == responses {
		kind = "input_text"
	}
	var parts []any
	switch content[0] {
	case '"':
		parts = []any{map[string]any{"type": kind, "text": json.RawMessage(content)}}
	case '[':
		var own []json.RawMessage
		if err := json.Unmarshal(content, &own); err != nil {
			return nil, err
		}
		for _, part := range own {
			parts = append(parts, part)
		}
	default:
		return nil, fmt.Errorf("the content of a message must be text or a list of parts, found %s", jsonscan.Kind(content))
	}
	return encoded(append(parts, media...))
}

// imagePart returns the part of a message for an image, given as its URL.
func imagePart(endpoint, url string) (any, error) {
	scheme, rest, _ := strings.Cut(url, ":")
	if !slices.Contains([]string{"http", "https", "data"}, scheme) {
		return nil, fmt.Errorf("image %.40q is no URL: write https://…, or data:image/png;base64,…", url)
	}
	switch endpoint {
	case responses:
		return map[string]any{"type": "input_image", "image_url": url}, nil
	case messages:
		source := map[string]any{"type": "url", "url": url}
		if scheme == "data" {
			media, data, _ := strings.Cut(rest, ";base64,")
			source = map[string]any{"type": "base64", "media_type": media, "data": data}
		}
		return map[string]any{"type": "image", "source": source}, nil
	}
	return map[string]any{"type": "image_url", "image_url": map[string]any{"url": url}}, nil
}

// list takes a member that is a string or a list of strings.
func (r *row) list(name string) ([]string, error) {
	value, _ := r.take(name)
	if value == nil {
		return nil, nil
	}
	list, ok := stringsOf(value)
	if !ok {
		return nil, fmt.Errorf("%s must be a string, or a list of them, found %s", name, jsonscan.Kind(value))
	}
	return list, nil
}

// stringsOf returns the strings of a JSON string or list of strings.
func stringsOf(value []byte) (list []string, ok bool) {
	if len(value) > 0 && value[0] == '"' {
		value = slices.Concat([]byte{'['}, value, []byte{']'})
	}
	return list, json.Unmarshal(value, &list) == nil
}

// embed makes a request for embeddings of all texts of the rows.
func (o *object) embed(rows []*row) (results int, err error) {
	var list []string
	for _, r := range rows {
		text, err := r.text()
		if err != nil {
			return 0, err
		}
		some, ok := stringsOf(text)
		if !ok {
			return 0, fmt.Errorf("the text must be a string, or a list of them, found %s", jsonscan.Kind(text))
		}
		list = append(list, some...)
	}
	return len(list), o.put("input", list)
}

// imagePaths are the paths of images by the shape of the request: what the row has.
var imagePaths = map[string]string{"": "/v1/images/generations", "image": "/v1/infer"}

// picture makes a request that is about images: of rows with images to find what they show, as NIM has it, else
// for an image of a text.
//
//	image   {"input":[{"type":"image_url","url":…},…]}
//	text    {"model":…,"prompt":…}
func (o *object) picture(rows []*row) error {
	var all []map[string]string
	for _, r := range rows {
		list, err := r.list("image")
		if err != nil {
			return err
		}
		for _, url := range list {
			all = append(all, map[string]string{"type": "image_url", "url": url})
		}
	}
	if all != nil {
		*o = object{shape: "image"}
		return o.put("input", all)
	}
	text, err := rows[0].text()
	switch {
	case err != nil:
		return err
	case len(rows) > 1:
		return errors.New("a request for an image has one text: remove `batch`")
	case text[0] != '"':
		return fmt.Errorf("the text must be a string, found %s", jsonscan.Kind(text))
	}
	o.set("prompt", text)
	return nil
}

// rankingPaths are the paths of rankings by the shape of the request: the name of its list.
var rankingPaths = map[string]string{
	"": "/v1/ranking", "passages": "/v1/ranking", "documents": "/v1/rerank", "texts": "/rerank",
}

// rank makes a request for ranks of the texts of all rows, which have one query, in the shape of the list's
// name:
//
//	passages    {"model":…,"query":{"text":…},"passages":[{"text":…},…]}   NIM
//	documents   {"model":…,"query":…,"documents":[…]}                      Cohere, Jina, vLLM, llama.cpp
//	texts       {"query":…,"texts":[…]}                                    Text Embeddings Inference
func (o *object) rank(rows []*row) error {
	query, all, shape, err := ranked(rows)
	if err != nil {
		return err
	}
	o.shape = shape
	if shape != "passages" {
		if shape == "texts" {
			*o = object{shape: shape}
		}
		o.set("query", query)
		return o.put(shape, all)
	}
	o.set("query", slices.Concat([]byte(`{"text":`), query, []byte(`}`)))
	passages := make([]map[string]string, len(all))
	for i, text := range all {
		passages[i] = map[string]string{"text": text}
	}
	return o.put("passages", passages)
}

// ranked takes the query of the rows, and their texts with the name that they have. Rows after the first
// may leave the query out.
func ranked(rows []*row) (query []byte, all []string, shape string, err error) {
	for i, r := range rows {
		own, _ := r.take("query")
		list, name := r.take("passages", "documents", "texts")
		if own == nil {
			own = query
		}
		if own == nil || list == nil {
			return nil, nil, "", errors.New("the row must have a query, and passages, documents or texts")
		}
		some, ok := stringsOf(list)
		switch {
		case !ok || own[0] != '"':
			err = fmt.Errorf("query must be a string and %s a list of strings", name)
		case i > 0 && (name != shape || string(own) != string(query)):
			err = errors.New("the rows of a batch have different queries, or different names of their texts")
		}
		if err != nil {
			return nil, nil, "", err
		}
		query, shape, all = own, name, append(all, some...)
	}
	return query, all, shape, nil
}
