package source

// Parse turns the text of a plan into nodes, or says all that is wrong with it as YAML. file is the name that positions
// carry. The node is nil when there are errors.
func Parse(file string, data []byte) (*Node, Diagnostics) {
	return nil, nil
}
