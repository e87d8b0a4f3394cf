package source

// JSON is the diagnostics for programs, in the shape of `terraform validate -json`, with code, path, allowed and nearest
// added to each.
func JSON(ds Diagnostics, sources Sources) ([]byte, error) { return nil, nil }
