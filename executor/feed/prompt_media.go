package feed

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/feed/prompt"
	"github.com/sluice-bench/sluice/scenario"
	"github.com/sluice-bench/sluice/scenario/source"
)

const (
	maxPixels = 1 << 32   // of the images of a dataset: drawing them takes seconds
	maxSound  = 512 << 20 // bytes of the audio of a dataset, as it is sent
)

// checkMedia refuses images and audio that are too much to draw before a load begins.
func checkMedia(p *scenario.Prompts) (diags source.Diagnostics) {
	turns, _ := Expected(p.Turns)
	prompts := math.Round(float64(p.Count) * turns)
	if i := p.Images; i != nil {
		width, _ := Expected(i.Width)
		height, _ := Expected(i.Height)
		if n := prompts * float64(i.Count) * width * height; n > maxPixels {
			diags = append(diags, source.Errorf("data-size", "the images of %.0f prompts have %.3g pixels, at most %.3g "+
				"are drawn", prompts, n, float64(maxPixels)).
				Help("lower `count` of the prompts or of the images, `width` or `height`").At("", i.Pos, 0))
		}
	}
	if a := p.Audio; a != nil {
		seconds, _ := Expected(a.Seconds)
		if n := prompts * seconds * float64(a.SampleRate) * 2 * 4 / 3; n > maxSound {
			diags = append(diags, source.Errorf("data-size", "the audio of %.0f prompts is %.3g MiB as it is sent, at most "+
				"%d are drawn", prompts, n/(1<<20), maxSound>>20).
				Help("lower `count`, `seconds` or `sample_rate`").At("", a.Pos, 0))
		}
	}
	return diags
}

// CheckParts refuses prompts for an endpoint whose requests are of other texts, and images and audio in prompts
// for one whose messages have no such parts.
func CheckParts(p *scenario.Prompts, target, endpoint string) (diags source.Diagnostics) {
	refuse := func(at source.Pos, what, help string) {
		diags = append(diags, source.Errorf("does-not-fit", "target %q takes no %s: a request of endpoint %s has no such "+
			"part", target, what, endpoint).Help(help).At("", at, 0))
	}
	if endpoint == "rankings" {
		return source.Diagnostics{source.Errorf("does-not-fit", "target %q takes no prompts: a request of endpoint "+
			"rankings is a query and the texts to rank", target).
			Help("give them as rows: data: {rows: [{query: …, passages: [{text: …}]}]}, or file").At("", p.Pos, 0)}
	}
	if p.Images != nil && !slices.Contains(partsAt, endpoint) {
		refuse(p.Images.Pos, "images", "send them to backend openai, endpoint chat, responses or messages")
	}
	if p.Audio != nil && endpoint != soundsAt {
		refuse(p.Audio.Pos, "audio", "send it to backend openai, endpoint chat")
	}
	return diags
}

// soundsAt is the endpoint whose messages have sounds as parts.
const soundsAt = "chat"

// mediaMembers draws the images and the audio of the prompt of a number. They do not depend on its text.
func (w *promptWriter) mediaMembers(number uint64) (members []backends.Member, err error) {
	rng := rand.New(rand.NewPCG(mix(w.seed^Hash("media")), number))
	var list []string
	if m := w.plan.Images; m != nil {
		for range m.Count {
			data, err := prompt.Image(edge(m.Width, rng), edge(m.Height, rng), m.Format, rng)
			if err != nil {
				return nil, fmt.Errorf("image: %w", err)
			}
			list = append(list, "data:image/"+m.Format+";base64,"+base64.StdEncoding.EncodeToString(data))
		}
		encoded, _ := json.Marshal(list) // strings: it cannot fail
		members = append(members, backends.Member{Name: "image", Value: encoded})
	}
	if a := w.plan.Audio; a != nil {
		seconds := min(max(drawFrom(a.Seconds, rng), scenario.MinSeconds), scenario.MaxSeconds)
		samples := max(int(math.Round(seconds*float64(a.SampleRate))), 1)
		encoded, _ := json.Marshal(a.Format + "," + // a string, too
			base64.StdEncoding.EncodeToString(prompt.Sound(samples, a.SampleRate, rng)))
		members = append(members, backends.Member{Name: "audio", Value: encoded})
	}
	return members, nil
}

// edge draws the length of an edge of an image, pixels.
func edge(d scenario.Dist, rng *rand.Rand) int {
	return int(min(max(math.Round(drawFrom(d, rng)), 1), scenario.MaxEdge))
}
