package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluice-bench/sluice/scenario/language"
	"github.com/sluice-bench/sluice/scenario/source"
)

// Statuses have two tables: those of HTTP, and the codes of gRPC.
const (
	leastHTTP, mostHTTP = 100, 599
	mostGRPC            = 16
)

// grpcCodes are the codes of gRPC by number.
var grpcCodes = [mostGRPC + 1]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL",
	"UNAVAILABLE", "DATA_LOSS",
	"UNAUTHENTICATED",
}

// likeHTTP are the statuses of HTTP that mean what a code of gRPC does (google/rpc/code.proto), in the
// order of the codes; 0: none.
var likeHTTP = [mostGRPC + 1]int64{200, 499, 0, 400, 504, 404, 409, 403, 429, 0, 0, 0, 501, 500, 503, 0, 401}

// statusUse is a list of codes in `expect`, and a target of each protocol whose replies are held
// against it: entries of a mix may share a list, and so may the stages.
type statusUse struct {
	list       []*language.Val[int64]
	http, grpc *language.Target
}

// useStatuses notes which protocol the codes of an `expect` are for.
func (c *stageChecks) useStatuses(x *language.Expect, t *language.Target) {
	if x == nil || t == nil || len(x.Status) == 0 || slices.Contains(x.Status, nil) {
		return
	}
	grpc, known := answersInGRPC(t)
	if !known {
		return
	}
	at := x.Status[0].At.Pos()
	i := slices.IndexFunc(c.statuses, func(u *statusUse) bool { return u.list[0].At.Pos() == at })
	if i < 0 {
		i, c.statuses = len(c.statuses), append(c.statuses, &statusUse{list: x.Status})
	}
	if grpc {
		c.statuses[i].grpc = t
	} else {
		c.statuses[i].http = t
	}
}

// checkStatuses refuses codes that no protocol has whose replies are held against them, and lists
// without a code of one of them: no reply could be right.
func (c *stageChecks) checkStatuses() {
	for _, u := range c.statuses {
		http, grpc := false, false
		for _, code := range u.list {
			isHTTP, isGRPC := code.V >= leastHTTP, code.V <= mostGRPC
			http, grpc = http || isHTTP, grpc || isGRPC
			switch {
			case isHTTP && u.http != nil || isGRPC && u.grpc != nil:
			case u.grpc != nil:
				c.at(code.At, notGRPC(code.V, c.nameOf(u.grpc)))
			default:
				c.at(code.At, notHTTP(code.V, c.nameOf(u.http)))
			}
		}
		const none = "no code here is one of %s, which target %q answers with"
		if u.http != nil && u.grpc != nil && !http {
			c.at(u.list[0].At, outOfRange(none, "HTTP", c.nameOf(u.http)).Help(bothTables()))
		}
		if u.http != nil && u.grpc != nil && !grpc {
			c.at(u.list[0].At, outOfRange(none, "gRPC", c.nameOf(u.grpc)).Help(bothTables()))
		}
	}
}

// answersInGRPC reports whether replies of a target have the codes of gRPC; what runs inside the
// client has them too. known: its URL says which.
func answersInGRPC(t *language.Target) (grpc, known bool) {
	if t.URL == nil {
		return true, t.Backend.Or("") == "triton_inprocess"
	}
	return overGRPC(t.URL.V), checkURL(t.URL.V) == nil
}

// nameOf is the name of a target.
func (c *stageChecks) nameOf(t *language.Target) string {
	for _, e := range c.targets {
		if e.Value == t {
			return e.Key
		}
	}
	return ""
}

// bothTables says which codes there are.
func bothTables() string {
	return fmt.Sprintf(
		"over HTTP statuses are %d to %d, over gRPC codes are 0 to %d", leastHTTP, mostHTTP,
		mostGRPC,
	)
}

func notGRPC(n int64, target string) *source.Diagnostic {
	m := outOfRange("%d is no code of gRPC, which target %q answers with", n, target).
		Help(bothTables())
	if i := slices.Index(likeHTTP[:], n); i >= 0 {
		m.Nearest = strconv.Itoa(i)
		name := strings.ToLower(strings.ReplaceAll(grpcCodes[i], "_", " "))
		m.Detail += fmt.Sprintf("; %d means %s", i, name)
	}
	return m
}

func notHTTP(n int64, target string) *source.Diagnostic {
	m := outOfRange("%d is no status of HTTP, which target %q answers with", n, target).
		Help(bothTables())
	if n <= mostGRPC && likeHTTP[n] != 0 {
		m.Nearest = strconv.FormatInt(likeHTTP[n], 10)
	}
	return m
}
