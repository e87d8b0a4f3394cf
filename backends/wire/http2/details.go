package http2

import (
	"encoding/base64"
	"strings"
	"time"

	"github.com/sluice-bench/sluice/backends/wire/protow"
)

// details returns the details of a status, from the field grpc-status-details-bin, for a note.
func details(field string) string {
	message, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(field, "="))
	if err != nil {
		return ""
	}
	return Details(message)
}

// Details returns the details of a status for a note: of a google.rpc.Status {details 3}, each an Any
// {type_url 1, value 2} of google/rpc/error_details.proto. Of other types only the name is known; ""
// without details.
func Details(message []byte) string {
	var status struct {
		Details []struct {
			URL   string `proto:"1"`
			Value string `proto:"2"`
		} `proto:"3"`
	}
	if protow.Decode(message, &status) != nil || len(status.Details) == 0 {
		return ""
	}
	var list []string
	for _, d := range status.Details {
		name := d.URL[strings.LastIndexAny(d.URL, "/.")+1:]
		list = append(list, strings.TrimSpace(name+" "+detail(name, []byte(d.Value))))
	}
	return " [" + strings.Join(list, "; ") + "]"
}

// detail returns the texts of a detail.
func detail(name string, value []byte) string {
	var texts []string
	switch name {
	case "BadRequest", "QuotaFailure": // violations 1 {field or subject 1, description 2}
		var m struct {
			Violations []struct {
				Subject string `proto:"1"`
				Text    string `proto:"2"`
			} `proto:"1"`
		}
		if protow.Decode(value, &m) != nil {
			return ""
		}
		for _, v := range m.Violations {
			texts = append(texts, v.Subject+": "+v.Text)
		}
	case "PreconditionFailure": // violations 1 {type 1, subject 2, description 3}
		var m struct {
			Violations []struct {
				Type    string `proto:"1"`
				Subject string `proto:"2"`
				Text    string `proto:"3"`
			} `proto:"1"`
		}
		if protow.Decode(value, &m) != nil {
			return ""
		}
		for _, v := range m.Violations {
			texts = append(texts, v.Type+" "+v.Subject+": "+v.Text)
		}
	case "RetryInfo": // retry_delay 1 {seconds 1, nanos 2}
		var m struct {
			Delay struct {
				Seconds int64 `proto:"1"`
				Nanos   int64 `proto:"2"`
			} `proto:"1"`
		}
		if protow.Decode(value, &m) != nil {
			return ""
		}
		texts = append(texts, "after "+(time.Duration(m.Delay.Seconds)*time.Second+time.Duration(m.Delay.Nanos)).String())
	case "ResourceInfo": // resource_type 1, resource_name 2, description 4
		var m struct {
			Type string `proto:"1"`
			Name string `proto:"2"`
			Text string `proto:"4"`
		}
		if protow.Decode(value, &m) != nil {
			return ""
		}
		texts = append(texts, strings.TrimSpace(m.Type+" "+m.Name), m.Text)
	case "ErrorInfo", "LocalizedMessage", "RequestInfo": // reason 1, domain 2; locale 1, message 2; request_id 1
		var m struct {
			First  string `proto:"1"`
			Second string `proto:"2"`
		}
		if protow.Decode(value, &m) != nil {
			return ""
		}
		texts = append(texts, m.First, m.Second)
	case "DebugInfo": // detail 2
		var m struct {
			Text string `proto:"2"`
		}
		if protow.Decode(value, &m) != nil {
			return ""
		}
		texts = append(texts, m.Text)
	}
	return strings.Join(texts, ", ")
}
