package feed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sluice-bench/sluice/backends/wire/jsonscan"
	"github.com/sluice-bench/sluice/executor/feed/format"
)

// media are the members of a row of text that name files: paths are relative to the file of the row.
var media = map[string]func(*build, *format.Record, []byte) ([]byte, error){
	"image": images, "audio": sounds,
}

// partsAt are the endpoints whose messages have pictures and sounds as parts.
var partsAt = []string{"chat", "responses", "messages"}

// images replaces paths of pictures by data URIs. URLs stay as they are.
func images(b *build, rec *format.Record, value []byte) ([]byte, error) {
	return eachFile(b, rec, value, "image", func(name string, data []byte) (string, error) {
		kind := format.MediaType(name)
		if !strings.HasPrefix(kind, "image/") {
			return "", fmt.Errorf("image %q is no picture by its name: .png, .jpg, .gif, .webp and .bmp are", name)
		}
		return "data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(data), nil
	})
}

// sounds replaces paths of sounds by "format,base64".
func sounds(b *build, rec *format.Record, value []byte) ([]byte, error) {
	return eachFile(b, rec, value, "audio", func(name string, data []byte) (string, error) {
		kind := strings.TrimPrefix(strings.ToLower(filepath.Ext(name)), ".")
		if !slices.Contains([]string{"wav", "mp3", "flac"}, kind) {
			return "", fmt.Errorf("audio %q is no sound by its name: .wav, .mp3 and .flac are", name)
		}
		return kind + "," + base64.StdEncoding.EncodeToString(data), nil
	})
}

// eachFile replaces the paths in a string, or in a list of them. A value of another form is the backend's to
// refuse.
func eachFile(
	b *build, rec *format.Record, value []byte, what string, replace func(string, []byte) (string, error),
) ([]byte, error) {
	list := []string{""}
	if value[0] == '"' {
		if json.Unmarshal(value, &list[0]) != nil {
			return value, nil
		}
	} else if jsonscan.Kind(value) == "null" || json.Unmarshal(value, &list) != nil {
		return value, nil
	}
	files := false
	for i, name := range list {
		if strings.Contains(name, ":") || what == "audio" && strings.Contains(name, ",") {
			continue // a URL, or the sound itself
		}
		data, err := rec.Beside(name, maxData-b.bytes)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", what, err)
		}
		if list[i], err = replace(name, data); err != nil {
			return nil, err
		}
		files = true
	}
	if !files {
		return value, nil
	}
	if value[0] == '"' {
		return json.Marshal(list[0])
	}
	return json.Marshal(list)
}
