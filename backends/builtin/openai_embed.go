package builtin

import (
	"cmp"
	"encoding/json"
	"math"
	"net/http"
	"slices"
)

// embeddings serves POST /v1/embeddings: numbers that follow from the text, of length 1.
func (t *textServer) embeddings(w http.ResponseWriter, r *http.Request) error {
	var req struct {
		Model string          `json:"model"`
		Input json.RawMessage `json:"input"`
	}
	if err := t.read(w, r, &req); err != nil {
		return err
	}
	if err := known(req.Model, embedModel); err != nil {
		return err
	}
	inputs := []json.RawMessage{req.Input}
	var list []json.RawMessage
	if json.Unmarshal(req.Input, &list) == nil && len(list) > 0 && (list[0][0] == '"' || list[0][0] == '[') {
		inputs = list
	}
	if len(req.Input) == 0 || len(list) == 0 && req.Input[0] == '[' {
		return badRequest("input", "'input' must be a text or a list of them that is not empty")
	}
	return t.whole(w, r, func() (any, error) {
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
	})
}

// whole answers with the JSON of what answer returns, after the service time.
func (t *textServer) whole(w http.ResponseWriter, r *http.Request, answer func() (any, error)) error {
	body, err := t.execute(r, answer)
	if err == nil {
		writeJSON(w, http.StatusOK, body)
	}
	return err
}

// embed counts the words by hash and scales the counts to length 1.
func embed(words []string) []float64 {
	v, sum := make([]float64, embedding), 1.0
	v[0] = 1
	for _, word := range words {
		h := uint32(2166136261) // FNV-1a
		for i := range len(word) {
			h = (h ^ uint32(word[i])) * 16777619
		}
		x := &v[h%embedding]
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

// rankings serves POST /v1/ranking, /v1/rerank and /rerank: the likeness of each text to the query, best
// first, in the form of the request.
func (t *textServer) rankings(w http.ResponseWriter, r *http.Request) error {
	var req rankRequest
	if err := t.read(w, r, &req); err != nil {
		return err
	}
	if req.Texts == nil {
		if err := known(req.Model, rankModel); err != nil {
			return err
		}
	}
	all := slices.Concat(req.Passages, req.Documents, req.Texts)
	if len(req.Query) == 0 || len(all) == 0 {
		return badRequest("query", "'query' and one of 'passages', 'documents' and 'texts' are required")
	}
	return t.whole(w, r, func() (any, error) { return req.rank(all), nil })
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
