package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The bars. CPU is compared per request, throughput as requests the server saw in a second.
const (
	httpCPU, httpRate = 1.3, 0.85
	grpcCPU           = 1.1
)

// http compares closed loops with wrk.
func (b *bench) http() error {
	script := filepath.Join(b.work, "post.lua")
	if err := b.capture("http://" + b.server.HTTP); err != nil {
		return err
	}
	if err := b.writeLua(script); err != nil {
		return err
	}
	b.out.head("HTTP closed loop", "sluice CPU µs", "wrk CPU µs", "ratio", "bar", "sluice /s",
		"wrk /s", "ratio", "bar", "others' cores")
	for _, n := range []int{1, 16, 64} {
		wrk := func() (cost, error) {
			return b.measure(exec.Command("wrk", fmt.Sprintf("-t%d", min(n, 2)), fmt.Sprintf("-c%d", n),
				fmt.Sprintf("-d%ds", int(b.each.Seconds())), "-s", script, "http://"+b.server.HTTP))
		}
		ours, peer, err := b.turns(n, "http://"+b.server.HTTP, wrk)
		if err != nil {
			return err
		}
		cpu, rate := ratios(ours, peer, cost.perRequest), ratios(ours, peer, cost.perSecond)
		b.out.row(fmt.Sprintf("%d in flight", n), median(ours, cost.perRequest),
			median(peer, cost.perRequest), cpu.text(), atMost(cpu.median, httpCPU),
			median(ours, cost.perSecond), median(peer, cost.perSecond), rate.text(),
			atLeast(rate.median, httpRate), median(append(ours, peer...), others))
	}
	return nil
}

// grpc compares closed loops with a bare loop over grpc-go with as many connections.
func (b *bench) grpc() error {
	url, file := "grpc://"+b.server.GRPC, filepath.Join(b.work, "message")
	if err := b.capture(url); err != nil {
		return err
	}
	message, err := b.server.ask("GET", "/request")
	if err == nil {
		err = os.WriteFile(file, message, 0o600)
	}
	if err != nil {
		return err
	}
	b.out.head("gRPC unary closed loop", "sluice CPU µs", "bare CPU µs", "ratio", "bar", "sluice /s",
		"bare /s", "ratio", "", "others' cores")
	for _, n := range []int{1, 16, 64} {
		bare := func() (cost, error) {
			return b.measure(exec.Command(filepath.Join(b.bin, "grpcloop"), "-target", b.server.GRPC,
				"-message", file,
				"-method", "/inference.GRPCInferenceService/ModelInfer", "-workers", strconv.Itoa(n),
				"-for", b.each.String()))
		}
		ours, peer, err := b.turns(n, url, bare)
		if err != nil {
			return err
		}
		cpu, rate := ratios(ours, peer, cost.perRequest), ratios(ours, peer, cost.perSecond)
		b.out.row(fmt.Sprintf("%d in flight", n), median(ours, cost.perRequest),
			median(peer, cost.perRequest), cpu.text(), atMost(cpu.median, grpcCPU),
			median(ours, cost.perSecond), median(peer, cost.perSecond), rate.text(), "",
			median(append(ours, peer...), others))
	}
	return nil
}

// capture makes Sluice send a few requests, so that the server has the bytes of one for the peer to
// send.
func (b *bench) capture(url string) error {
	_, err := b.sluice(url, "{concurrency: 1}", "50 requests")
	return err
}

// turns runs Sluice and its peer in pairs, rounds times. Who goes first changes from pair to pair:
// what a machine does (clock, core placement, neighbours) lasts longer than a turn and must not
// fall on one side.
func (b *bench) turns(n int, url string, peer func() (cost, error)) (ours, theirs []cost, err error) {
	own := func() (cost, error) { return b.sluice(url, fmt.Sprintf("{concurrency: %d}", n), b.each.String()) }
	for i := range b.rounds {
		order := []func() (cost, error){own, peer}
		if i%2 == 1 {
			slices.Reverse(order)
		}
		pair := make([]cost, 2)
		for k, turn := range order {
			if pair[k], err = turn(); err != nil {
				return nil, nil, err
			}
		}
		if i%2 == 1 {
			slices.Reverse(pair)
		}
		ours, theirs = append(ours, pair[0]), append(theirs, pair[1])
	}
	return ours, theirs, nil
}

// spread is the ratios of the pairs.
type spread struct{ least, median, most float64 }

func ratios(ours, theirs []cost, of func(cost) float64) spread {
	var list []float64
	for i := range ours {
		list = append(list, of(ours[i])/of(theirs[i]))
	}
	slices.Sort(list)
	return spread{list[0], list[len(list)/2], list[len(list)-1]}
}

func (s spread) text() string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.median, s.least, s.most) }

// writeLua makes wrk's script out of the request that the server has captured: path, headers and
// body are the same.
func (b *bench) writeLua(file string) error {
	request, err := b.server.ask("GET", "/request")
	if err != nil {
		return err
	}
	head, body, found := bytes.Cut(request, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	parts := strings.Fields(lines[0])
	if !found || len(parts) != 3 {
		return fmt.Errorf("the captured request has no head: %q", head)
	}
	var lua strings.Builder
	fmt.Fprintf(&lua, "wrk.method = %q\nwrk.path = %q\n", parts[0], parts[1])
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ":")
		if !strings.EqualFold(name, "content-length") { // wrk adds its own
			fmt.Fprintf(&lua, "wrk.headers[%q] = %q\n", name, strings.TrimSpace(value))
		}
	}
	lua.WriteString(`wrk.body = "`)
	for _, c := range body {
		fmt.Fprintf(&lua, "\\%03d", c)
	}
	lua.WriteString("\"\n")
	return os.WriteFile(file, []byte(lua.String()), 0o600)
}

func others(c cost) float64 { return c.others }

func median(list []cost, of func(cost) float64) float64 {
	values := make([]float64, len(list))
	for i, c := range list {
		values[i] = of(c)
	}
	return middle(values)
}

// middle returns the median of the values and sorts them.
func middle(values []float64) float64 {
	slices.Sort(values)
	if n := len(values); n%2 == 0 {
		return (values[n/2-1] + values[n/2]) / 2
	}
	return values[len(values)/2]
}
