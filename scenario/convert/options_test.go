package convert_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert"
)

var comment = regexp.MustCompile(`(?m)(^|\s+)# .*$`)

// TestEveryOptionIsMentioned checks that a comment of the plan names every option that is given,
// that the plan is valid, and that an option is called not needed only where the plan is the same
// without it.
func TestEveryOptionIsMentioned(t *testing.T) {
	write(t)
	seen := map[string]bool{}
	plan := func(args string) string {
		out, _ := convert.PerfAnalyzer(convert.Options{Args: strings.Fields("-m m " + args)})
		if out.Plan != "" && !seen[args] {
			seen[args] = true
			t.Run(args, func(t *testing.T) { valid(t, out.Plan) })
		}
		return out.Plan
	}
	among := []string{
		"", "-i grpc", "--request-rate-range 10", "--request-count 20", "--max-trials 1", "--input-data inputs.json", "--data-directory tensors",
		"--latency-threshold 7", "-u https://host", "-i grpc --ssl-grpc-use-ssl", "--measurement-mode count_windows", "--concurrency-range 2:4",
		"--service-kind triton_c_api --model-repository models --triton-server-directory tritonserver",
		"--service-kind triton_c_api --model-repository models --triton-server-directory tritonserver -i grpc --streaming", "-i grpc --streaming", "--collect-metrics", "--trace-level TIMESTAMPS", "--shared-memory system",
	}
	for option := range strings.Lines(`--measurement-mode time_windows
--measurement-mode count_windows
--measurement-interval 100
--measurement-request-count 5
--stability-percentage 10
--stability-percentage 0
--percentile 80
--max-trials 4
--request-count 6
--warmup-request-count 6
--latency-threshold 5
--latency-threshold 0
--concurrency-range 1
--request-rate-range 5
--request-distribution constant
--request-distribution poisson
--request-intervals intervals.txt
--request-period 3
--max-threads 4
--async
--sync
--streaming
-t 2
-c 4
-d
--enable-mpi
--num-of-sequences 3
--sequence-length 3
--sequence-length-variation 10
--sequence-id-range 1:9
--serial-sequences
--input-data zero
--input-data inputs.json
--data-directory tensors
-z
-b 1
-b 2
--shape a:1
--string-data x
--string-length 4
--shared-memory none
--shared-memory system
--output-shared-memory-size 5
--input-tensor-format binary
--output-tensor-format json
-x 3
--model-signature-name a
--bls-composing-models a
--request-parameter a:1:int
-H a:b
--grpc-compression-algorithm none
--grpc-compression-algorithm gzip
--grpc-method a/b
--proto inputs.json
--endpoint v1
-i http
-i grpc
-u host:1
--triton-server-directory tritonserver
--model-repository models
--collect-metrics
--metrics-url host:1/metrics
--metrics-interval 5
--trace-level OFF
--trace-level TENSORS
--trace-rate 3
--trace-count 3
--log-frequency 3
--ssl-grpc-use-ssl
--ssl-grpc-root-certifications-file ca.crt
--ssl-grpc-private-key-file client.key
--ssl-grpc-certificate-chain-file client.crt
--ssl-https-verify-peer 0
--ssl-https-verify-host 0
--ssl-https-ca-certificates-file ca.crt
--ssl-https-client-certificate-file client.crt
--ssl-https-client-certificate-type DER
--ssl-https-private-key-file client.key
--ssl-https-private-key-type PEM
-f perf.csv
--verbose-csv
--profile-export-file export.json
-v
`) {
		option = strings.TrimSpace(option)
		name, _, _ := strings.Cut(option, " ")
		found := false
		for _, others := range among {
			with, without := plan(others+" "+option), plan(others)
			if with == "" {
				continue // they do not go together
			}
			found = true
			_, body, _ := strings.Cut(with, "\n") // the first line is the command line
			if !regexp.MustCompile(`(?m)# .*` + name + `\b`).MatchString(body) {
				t.Errorf("%s %s: the plan does not speak of %s\n%s", others, option, name, with)
			}
			same := comment.ReplaceAllString(with, "") == comment.ReplaceAllString(without, "")
			if strings.Contains(body, "# Not needed: "+name+": ") && !same && !strings.Contains(others, name+" ") {
				t.Errorf("%s %s: %s is called not needed, and changes the plan\n%s", others, option, name, with)
			}
		}
		if !found {
			t.Errorf("%s becomes no plan, whatever stands beside it", option)
		}
	}
}
