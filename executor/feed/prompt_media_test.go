package feed

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestMediaRefused: images and audio that would take too long to draw, and endpoints without such parts.
func TestMediaRefused(t *testing.T) {
	images := func(prompts, edge int) *scenario.Prompts {
		return &scenario.Prompts{Count: prompts, Images: &scenario.Images{
			Count: 2, Width: always(float64(edge)), Height: always(float64(edge)), Format: "png",
		}}
	}
	audio := func(prompts int, seconds float64) *scenario.Prompts {
		return &scenario.Prompts{Count: prompts, Audio: &scenario.Audio{
			Seconds: always(seconds), SampleRate: 16000, Format: "wav",
		}}
	}
	for _, c := range []struct {
		prompts  *scenario.Prompts
		endpoint string
		want     string
	}{
		{images(100, 1024), "chat", ""},
		{images(100, 1024), "responses", ""},
		{images(100, 1024), "messages", ""},
		{images(100, 1024), "completions", "takes no images"},
		{images(100, 8192), "chat", "the images of 100 prompts have 1.34e+10 pixels, at most 4.29e+09"},
		{audio(100, 10), "chat", ""},
		{audio(100, 10), "messages", "takes no audio"},
		{&scenario.Prompts{Count: 1}, "rankings", "takes no prompts"},
		{audio(1000, 60), "chat", "the audio of 1000 prompts is 2.44e+03 MiB as it is sent, at most 512"},
	} {
		var diags source.Diagnostics
		diags = append(diags, checkPrompts(&scenario.Dataset{Prompts: c.prompts})...)
		diags = append(diags, CheckParts(c.prompts, "main", c.endpoint)...)
		if len(diags) > 1 || (len(diags) == 0) != (c.want == "") || !strings.Contains(diags.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.endpoint, diags, c.want)
		}
	}
}
