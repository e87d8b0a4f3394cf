package trial

import (
	"context"

	"github.com/sluice-bench/sluice/backends"
	"github.com/sluice-bench/sluice/executor/result"
)

// callSet holds the calls of a trial, and what gives back the shared memory that some of them lie in.
type callSet struct {
	byEntry  [][]*backends.Call
	releases []backends.Release
}

// placeCalls returns the calls of a trial. Shared memory is opened for slots requests in flight.
func placeCalls(ctx context.Context, in *Requests, slots int) (c callSet, err error) {
	c.byEntry = make([][]*backends.Call, len(in.Entries))
	for i, e := range in.Entries {
		c.byEntry[i] = e.Calls
		if e.Shared == nil {
			continue
		}
		to := in.Targets[e.Target]
		calls, release, err := e.OpenShared(ctx, to, to.maxLanes(slots))
		if err != nil {
			return c, About(to.Plan, err)
		}
		c.byEntry[i], c.releases = calls, append(c.releases, release)
	}
	return c, nil
}

// release gives shared memory back, when nothing is in flight any more. What cannot be undone is noted.
func (c *callSet) release(ctx context.Context, out *result.Node) {
	ctx, cancel := WithGrace(ctx, ReleaseLimit)
	defer cancel()
	var notes findings
	for _, release := range c.releases {
		if err := release(ctx); err != nil {
			notes.note("shared-memory", "shared memory could not be given back: %s", err)
		}
	}
	notes.addTo(out)
}

// largest returns the size of the largest call, bytes.
func (c *callSet) largest() (size int) {
	for _, calls := range c.byEntry {
		for _, c := range calls {
			size = max(size, c.Size)
		}
	}
	return size
}
