package convert

import "encoding/json"

// generator returns the command in the data of --service-kind dynamic_grpc whose output is the
// messages; nil without one, or without the file.
func (s *settings) generator() []string {
	if s.kind != "dynamic_grpc" {
		return nil
	}
	data, err := s.o.Read(s.paths[0])
	if err != nil {
		return nil
	}
	var file struct {
		Data []struct {
			Command string `json:"message_generator"`
		} `json:"data"`
	}
	if json.Unmarshal(data, &file) != nil || len(file.Data) == 0 || file.Data[0].Command == "" {
		return nil
	}
	words, err := Split(file.Data[0].Command)
	if err != nil {
		return nil
	}
	return words
}
