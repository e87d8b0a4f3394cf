package cudatest

import (
	"encoding/json"
	"net/http"
	"testing"
)

// Regions returns the number of registered GPU regions of the server at an HTTP URL, by GPU.
func Regions(t testing.TB, url string) map[int]int {
	t.Helper()
	reply, err := http.Get(url + "/v2/cudasharedmemory/status")
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	var list []struct {
		Device int `json:"device_id"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&list); err != nil {
		t.Fatal(err)
	}
	regions := map[int]int{}
	for _, r := range list {
		regions[r.Device]++
	}
	return regions
}
