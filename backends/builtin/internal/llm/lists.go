package llm

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
)

// dimensions is the number of numbers in an embedding.
const dimensions = 8

// Embeddings answers POST /v1/embeddings: numbers that follow from the text, of length 1.
func Embeddings(body []byte) (any, error) {
	var req struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := Parse(body, &req); err != nil {
		return nil, err
	}
	if err := checkModel(req.Model, embedModel); err != nil {
		return nil, err
	}
	inputs := []json.RawMessage{req.Input}
	var list []json.RawMessage
	if json.Unmarshal(req.Input, &list) == nil && len(list) > 0 && (list[0][0] == '"' || list[0][0] == '[') {
		inputs = list
	}
	if len(req.Input) == 0 || len(list) == 0 && req.Input[0] == '[' {
		return nil, BadRequest("input", "'input' must be a text or a list of them that is not empty")
	}
	data, tokens := []object{}, 0
	for i, in := range inputs {
		words := wordsOf(in)
		tokens += len(words)
		data = append(data, object{"object": "embedding", "index": i, "embedding": embed(words)})
	}
	return object{
		"object": "list", "data": data, "model": req.Model,
		"usage": object{"prompt_tokens": tokens, "total_tokens": tokens},
	}, nil
}

// embed counts the words by hash and scales the counts to length 1.
func embed(words []string) []float64 {
	v, sum := make([]float64, dimensions), 1.0
	v[0] = 1
	for _, word := range words {
		h := uint32(2166136261) // FNV-1a
		for i := range len(word) {
			h = (h ^ uint32(word[i])) * 16777619
		}
		x := &v[h%dimensions]
		sum += 2**x + 1 // (x+1)² - x²
		*x++
	}
	for i := range v {
		v[i] /= math.Sqrt(sum)
	}
	return v
}

// rankRequest has the forms of NIM (passages), of Cohere, Jina and vLLM (documents) and of TEI (texts, which
// names no model).
type rankRequest struct {
	Model     string            `json:"model"`
	Query     json.RawMessage   `json:"query"`
	Passages  []json.RawMessage `json:"passages"`
	Documents []json.RawMessage `json:"documents"`
	Texts     []json.RawMessage `json:"texts"`
}

// Rankings answers POST /v1/ranking, /v1/rerank and /rerank: the likeness of each text to the query, best
// first, in the form of the request.
func Rankings(body []byte) (any, error) {
	var req rankRequest
	if err := Parse(body, &req); err != nil {
		return nil, err
	}
	if req.Texts == nil {
		if err := checkModel(req.Model, rankModel); err != nil {
			return nil, err
		}
	}
	all := slices.Concat(req.Passages, req.Documents, req.Texts)
	if len(req.Query) == 0 || len(all) == 0 {
		return nil, BadRequest("query", "'query' and one of 'passages', 'documents' and 'texts' are required")
	}
	return req.rank(all), nil
}

func (req *rankRequest) rank(all []json.RawMessage) any {
	score := "relevance_score"
	switch {
	case req.Passages != nil:
		score = "logit"
	case req.Texts != nil:
		score = "score"
	}
	query, tokens := wordsOf(req.Query), 0
	like := embed(query)
	type ranked struct {
		index int
		score float64
	}
	var list []ranked
	for i, raw := range all {
		words := wordsOf(raw)
		tokens += len(query) + len(words)
		x := ranked{index: i}
		for j, v := range embed(words) {
			x.score += v * like[j]
		}
		list = append(list, x)
	}
	slices.SortStableFunc(list, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	results := []object{}
	for _, x := range list {
		results = append(results, object{"index": x.index, score: x.score})
	}
	usage := object{"prompt_tokens": tokens, "total_tokens": tokens}
	switch {
	case req.Texts != nil:
		return results
	case req.Passages != nil:
		return object{"rankings": results, "usage": usage}
	}
	return object{"object": "list", "model": req.Model, "results": results, "usage": usage}
}

// pixel is a PNG image of one white pixel, in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mP8/x8AAwMCAO+ip1sAAAAASUVORK5CYII="

// Images answers POST /v1/images/generations: as many images as asked for, of one pixel each.
func Images(body []byte) (any, error) {
	var req struct {
		Model  string `json:"model"`
		Prompt string `json:"prompt"`
		N      *int   `json:"n"`
	}
	if err := Parse(body, &req); err != nil {
		return nil, err
	}
	if err := checkModel(req.Model, imageModel); err != nil {
		return nil, err
	}
	n := 1
	if req.N != nil {
		n = *req.N
	}
	switch {
	case req.Prompt == "":
		return nil, BadRequest("prompt", "you must provide a prompt")
	case n < 1 || n > maxChoices:
		return nil, BadRequest("n", "n must be from 1 to %d, got %d", maxChoices, n)
	}
	data := make([]object, n)
	for i := range data {
		data[i] = object{"b64_json": pixel}
	}
	return object{"created": createdAt, "data": data}, nil
}

// Detections answers POST /v1/infer, NIM's endpoint that finds what images show: nothing.
func Detections(body []byte) (any, error) {
	var req struct {
		Input []struct {
			URL string `json:"url"`
		} `json:"input"`
	}
	if err := Parse(body, &req); err != nil {
		return nil, err
	}
	if len(req.Input) == 0 {
		return nil, BadRequest("input", "'input' must be a list of images that is not empty")
	}
	data := []object{}
	for i := range req.Input {
		data = append(data, object{"index": i, "bounding_boxes": object{}})
	}
	return object{"data": data, "usage": object{"images": len(data)}}, nil
}
