package load

// Hash is FNV-1a over due times, eight little-endian bytes each: same seed, same hash. Start with EmptyHash.
type Hash uint64

// EmptyHash is the hash of no due times.
const EmptyHash Hash = 14695981039346656037

// Add is h with due behind it.
func (h Hash) Add(due int64) Hash {
	for range 8 {
		h = (h ^ Hash(due&0xff)) * 1099511628211
		due >>= 8
	}
	return h
}
