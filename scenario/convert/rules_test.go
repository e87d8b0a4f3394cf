package convert_test

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/scenario/convert"
	"github.com/sluice-bench/sluice/scenario/convert/shell"
	"github.com/sluice-bench/sluice/scenario/source"
)

// TestCommandLine holds the command lines of perf_analyzer's own tests, scripts and documentation.
// "error: …" and "warning: …" are diagnostics, anything else is text of the plan. Where
// perf_analyzer reads a number only as far as it goes (29.5 as 29, 100,400 as 100), that is a
// mistake here.
func TestCommandLine(t *testing.T) {
	write(t)
	const periodic = "-m m -i grpc --streaming --profile-export-file e.json --periodic-concurrency-range "
	tests := []struct {
		line string
		want []string
	}{
		{"", []string{"error: the model, -m NAME, is missing"}},
		{"-x", []string{"error: a value is missing for -x"}},
		{"-m m --invalid-option", []string{"error: there is no option --invalid-option"}},
		{"-m m -Z", []string{"error: there is no option -Z"}},
		{"-m m", []string{
			"backend: triton\n", `url: "http://localhost:8000"`, "concurrency: 1\n", "window: 5s ", "within: 10%", "max_windows: 10",
			"metrics: [throughput, latency.mean]", "generate: random, count: 1",
		}},
		{"-m m --streaming", []string{"error: --streaming needs gRPC or the C API"}},
		{"-m m --max-threads 1 --request-rate-range 5", []string{"max_in_flight: 1 "}},
		{"-m m --max-threads 65535 --request-rate-range 5", []string{"max_in_flight: 65535 "}},
		{"-m m --max-threads", []string{"error: a value is missing for --max-threads"}},
		{"-m m --max-threads 4", []string{"Not needed: --max-threads"}},
		{"-m m -i grpc --streaming --max-threads 4 --concurrency-range 16", []string{"connections: 4 "}},
		{"-m m --sequence-length 2000 --sequence-length-variation 0", []string{"length: 2000"}},
		{"-m m --sequence-length 0", []string{"warning: --sequence-length must be above 0: 20 is taken", "length: {min: 16, max: 24}"}},
		{"-m m --sequence-length-variation 33.3", []string{"length: {min: 14, max: 26}"}},
		{"-m m --sequence-length-variation -10", []string{"error: --sequence-length-variation must not be below 0"}},
		{"-m m --percentile 25", []string{"latency.p25", "percentiles: [25, 50, 90, 95, 99]"}},
		{"-m m --percentile 225", []string{"error: --percentile is from 1 to 99, or -1 for the mean, 225 is given"}},
		{"-m m --percentile -1", []string{"latency.mean"}},
		{"-m m --sequence-id-range 53", []string{"ids: {from: 53}"}},
		{"-m m --request-rate-range 5 --num-of-sequences 3", []string{"sequences: {live: 3, length: {min: 16, max: 24}}"}},
		{"-m m --request-rate-range 5 --num-of-sequences 3 --input-data seq.json", []string{"sequences: {live: 3}"}},
		{"-m m --sequence-id-range 53:67", []string{"ids: {from: 53, to: 66}"}},
		{"-m m --sequence-id-range 0:67", []string{"warning: --sequence-id-range: 0 is no sequence id, 1 is taken", "ids: {from: 1, to: 66}"}},
		{"-m m --sequence-id-range 53:67:92", []string{"error: --sequence-id-range has at most 2 parts"}},
		{"-m m --sequence-id-range 53:a", []string{`error: --sequence-id-range wants a whole number, "a" is none`}},
		{"-m m --sequence-id-range 5:8 --concurrency-range 4", []string{"error: --sequence-id-range has 3 ids, 4 requests in flight need one each"}},
		{"-m m --sequence-id-range 5:8 --request-rate-range 4", []string{"error: --sequence-id-range has 3 ids, 4 sequences need one each"}},
		{"-m m --input-tensor-format binary", []string{"backend: triton\n"}},
		{"-m m --input-tensor-format JSON", []string{"tensors: {input: json, output: binary}"}},
		{"-m m --output-tensor-format json", []string{"tensors: {input: binary, output: json}"}},
		{"-m m -i grpc --output-tensor-format json", []string{"Not needed: --output-tensor-format"}},
		{"-m m --input-tensor-format invalid", []string{`error: "invalid" is no value of --input-tensor-format`}},
		{"-m m --shape input_name:1,2,3", []string{"input_name: [1, 2, 3]"}},
		{"-m m --shape alpha:10,24 --shape beta:10,200,34,15,9000 --shape gamma:1", []string{"alpha: [10, 24]", "beta: [10, 200, 34, 15, 9000]", "gamma: [1]"}},
		{"-m m --shape a:b:1,2", []string{`"a:b": [1, 2]`}},
		{"-m m --shape input_name:-1,2,3", []string{"error: --shape: a dimension must be above 0, -1 is given"}},
		{"-m m --shape input_name=1,2,3", []string{"error: --shape wants a colon between the input and its dimensions"}},
		{"-m m --shape input_name", []string{"error: --shape wants a colon"}},
		{"-m m --shape input_name:a,b,c", []string{`error: --shape: the dimension "a" is no whole number`}},
		{"-m m --shape input_name:[1,2,3]", []string{`error: --shape: the dimension "[1" is no whole number`}},
		{"-m m -p 500", []string{"window: 500ms"}},
		{"-m m -p -200", []string{"error: --measurement-interval must be above 0"}},
		{"-m m -p foobar", []string{`error: --measurement-interval wants a whole number, "foobar" is none`}},
		{"-m m --concurrency-range 100", []string{"concurrency: 100 "}},
		{"-m m --concurrency-range 100:400", []string{"levels: {from: 100, to: 400, step: 1}"}},
		{"-m m --concurrency-range 1:1001", []string{"error: --concurrency-range has 1001 levels, a plan's range at most 1000"}},
		{"-m m --concurrency-range 1:40", []string{"levels: {from: 1, to: 40, step: 1}"}},
		{"-m m --concurrency-range 100:400:10", []string{"levels: {from: 100, to: 400, step: 10}"}},
		{"-m m --concurrency-range 5:2", []string{"concurrency: 5 "}},
		{"-m m --concurrency-range 100,400,10", []string{`error: --concurrency-range wants a whole number, "100,400,10" is none`}},
		{"-m m --concurrency-range 100:400:10:99", []string{"error: --concurrency-range has at most 3 parts"}},
		{"-m m --concurrency-range a:400:10", []string{"error: --concurrency-range wants a whole number"}},
		{"-m m --concurrency-range 100:b", []string{"error: --concurrency-range wants a whole number"}},
		{"-m m --concurrency-range 100:400:c", []string{"error: --concurrency-range wants a whole number"}},
		{"-m m --concurrency-range 0:4", []string{"error: --concurrency-range must be above 0"}},
		{"-m m --concurrency-range 100:0:25 -l 0", []string{"error: the end of --concurrency-range and --latency-threshold are both 0"}},
		{"-m m --concurrency-range 100:0:25", []string{"error: the end of --concurrency-range and --latency-threshold are both 0"}},
		{"-m m --request-rate-range 100:0:25", []string{"error: the end of --request-rate-range and --latency-threshold are both 0"}},
		{"-m m --concurrency-range 1:0:2 -l 50 --percentile 99", []string{`levels: {from: 1, step: 2, while: "latency.p99 < 50ms"}`}},
		{"-m m --request-rate-range 0.5 --request-count 3", []string{"rate: 0.5/s ", "for: 3 requests"}},
		{"-m m --request-rate-range 0.5:1", []string{"levels: {from: 0.5/s, to: 1/s, step: 1/s}"}},
		{"-m m --request-rate-range 1.5:2.5:0.5", []string{"levels: {from: 1.5/s, to: 2.5/s, step: 0.5/s}"}},
		{periodic + "100:400", []string{"periodic: {from: 100, to: 400, step: 1, responses: 10}"}},
		{periodic + "100:400:10 --request-period 5", []string{"periodic: {from: 100, to: 400, step: 10, responses: 5}"}},
		{periodic + "100", []string{"error: --periodic-concurrency-range needs its start and its end"}},
		{periodic + "100:400:10:9", []string{"error: --periodic-concurrency-range has at most 3 parts"}},
		{periodic + "100:400:7", []string{"error: --periodic-concurrency-range: steps of 7 do not lead from 100 to 400"}},
		{periodic + "10:400:0", []string{"error: --periodic-concurrency-range must be above 0"}},
		{periodic + "3:3 --request-period 5", []string{"concurrency: 3}", "for: 3 requests", "Not needed: --request-period"}},
		{periodic + "400:10", []string{"error: --periodic-concurrency-range: the start 400 is above the end 10"}},
		{periodic + "100:400 --concurrency-range 10:40", []string{"error: --periodic-concurrency-range and --concurrency-range both say where the load comes from"}},
		{"-m m --concurrency-range 10 --request-rate-range 10", []string{"error: --concurrency-range and --request-rate-range both say"}},
		{"-m m -i grpc --streaming --periodic-concurrency-range 100:400", []string{"error: --periodic-concurrency-range needs --profile-export-file"}},
		{"-m m --profile-export-file e.json --periodic-concurrency-range 100:400", []string{"error: --periodic-concurrency-range needs --streaming"}},
		{"-m m --request-period 2000", []string{"Not needed: --request-period"}},
		{"-m m --max-trials 99999999999999999999", []string{"error: --max-trials wants a whole number"}},
		{"-m m --max-trials 1 -p 250", []string{"for: 250ms"}},
		{"-m m --max-trials 2", []string{"windows: 2 ", "max_windows: 2 "}},
		{"-m m -i grpc --request-parameter max_tokens:256:int", []string{"max_tokens: 256\n"}},
		{"-m m -i grpc --request-parameter a:256:string --request-parameter b:TRUE:bool", []string{`a: "256"`, "b: true"}},
		{"-m m -i grpc --request-parameter b:1:bool", []string{`error: --request-parameter: "1" is neither true nor false`}},
		{"-m m -i grpc --request-parameter max_tokens:256", []string{"error: --request-parameter has three parts"}},
		{"-m m -i grpc --request-parameter a:010:int --request-parameter b:+7:int --request-parameter 'c: -09:int'", []string{"a: 10\n", "b: 7\n", "c: -9\n"}},
		{"-m m -i grpc --request-parameter max_tokens:256:uint", []string{`error: "uint" is no value of --request-parameter`}},
		{"-m m --request-parameter max_tokens:256:int", []string{"error: --request-parameter needs gRPC"}},
		{"-m m --stability-percentage 80", []string{"within: 80%"}},
		{"-m m --stability-percentage 0", []string{"within: 0.0001%"}},
		{"-m m --stability-percentage -20", []string{"error: --stability-percentage must not be below 0"}},
		{"-m m --stability-percentage 29.5", []string{"within: 29.5%"}},
		{"-m m --request-count 500", []string{"for: 500 requests"}},
		{"-m m --request-count -2", []string{"error: --request-count must be above 0"}},
		{"-m m --request-count 0", []string{"error: --request-count must be above 0"}},
		{"-m m --request-count 2 --request-rate-range 5", []string{"error: --request-count is less than the request rate, 5"}},
		{"-m m --request-count 2 --concurrency-range 5", []string{"error: --request-count is less than the concurrency, 5"}},
		{"-m m --request-count 20 --concurrency-range 5:6:1", []string{"error: --request-count does not go with several levels"}},
		{"-m m --request-count 20 --request-rate-range 5:6:1", []string{"error: --request-count does not go with several levels"}},
		{"-m m --request-count 20 --request-count 30", []string{"warning: only the first --request-count counts", "for: 20 requests"}},
		{"-m m --request-count 2000 --measurement-mode time_windows --measurement-request-count 30", []string{"for: 2000 requests", "Not needed: --measurement-mode"}},
		{"-m m --measurement-mode count_windows", []string{"window: 50 requests"}},
		{"-m m --measurement-mode windows", []string{`error: "windows" is no value of --measurement-mode`}},
		{"-m m --warmup-request-count 500", []string{"warmup: 500 requests"}},
		{"-m m --warmup-request-count 0", []string{"backend: triton\n"}},
		{"-m m --warmup-request-count -2", []string{"error: --warmup-request-count must not be below 0"}},
		{"-m m --warmup-request-count 20 --concurrency-range 5:6:1", []string{"error: --warmup-request-count does not go with several levels"}},
		{"-m m --warmup-request-count 20 --request-rate-range 5:6:1", []string{"error: --warmup-request-count does not go with several levels"}},
		{"-m m --collect-metrics --service-kind tfserving -i grpc", []string{"error: --collect-metrics does not go with tfserving"}},
		{"-m m --metrics-url localhost:8002/metrics", []string{"error: --metrics-url needs --collect-metrics"}},
		{"-m m --metrics-interval 1000", []string{"error: --metrics-interval needs --collect-metrics"}},
		{"-m m --collect-metrics --metrics-interval 0", []string{"error: --metrics-interval must be above 0"}},
		{"-m m --collect-metrics -u https://host:8000", []string{`metrics: {url: "http://host:8002/metrics", match: ["nv_gpu_*"]}`}},
		{"-m m --collect-metrics --metrics-url localhost:8002/metrics", []string{`url: "http://localhost:8002/metrics"`}},
		{"-m m --bls-composing-models a", []string{"composing_models: [a]"}},
		{"-m m --bls-composing-models 'a, b ,c'", []string{"composing_models: [a, b, c]"}},
		{"-m m --bls-composing-models 'a:1 ,  b:2, c:1'", []string{`composing_models: ["a:1", "b:2", "c:1"]`}},
		{"-m m --bls-composing-models a,b:3,c", []string{`composing_models: [a, "b:3", c]`}},
		{"-m m --bls-composing-models a:1,b,a:2", []string{`composing_models: ["a:1", b, "a:2"]`}},
		{"-m m --bls-composing-models a,,b", []string{`error: --bls-composing-models: "" is no name`}},
		{"--service-kind dynamic_grpc --input-data inputs.json --grpc-method hello.world.ServiceName/MethodName", []string{"backend: grpc ", "method: hello.world.ServiceName/MethodName"}},
		{"--service-kind dynamic_grpc --input-data inputs.json --grpc-method hello.world/ServiceName/MethodName", []string{`error: --grpc-method: "hello.world/ServiceName/MethodName" is not`}},
		{"--service-kind dynamic_grpc --input-data inputs.json --grpc-method hello.world.ServiceName.MethodName", []string{`error: --grpc-method: "hello.world.ServiceName.MethodName" is not`}},
		{"--service-kind dynamic_grpc -a --input-data inputs.json --grpc-method a.B/C", []string{"error: --async does not go with dynamic_grpc"}},
		{"--service-kind dynamic_grpc --grpc-method a.B/C", []string{"error: --service-kind needs --input-data"}},
		{"-m m --service-kind openai -a --input-data chat.json", []string{"error: --service-kind needs --endpoint"}},
		{"-m m --service-kind openai --endpoint v1/chat/completions --input-data chat.json", []string{"error: --service-kind needs --async"}},
		{"-m m --service-kind openai -a --endpoint v1/chat/completions --input-data chat.json -b 2", []string{"error: -b does not go with openai"}},
		{"-m m --service-kind openai -a --endpoint v1/chat/completions", []string{"error: --service-kind needs --input-data"}},
		{"-m m --service-kind openai -a --endpoint api/embeddings --input-data chat.json", []string{"endpoint: embeddings", "path: /api/embeddings"}},
		{"-m m --service-kind openai -a --endpoint /v1/chat/completions --input-data chat.json", []string{"endpoint: chat", "streaming: true"}},
		{"-m m --session-concurrency 2", []string{"error: --session-concurrency needs --service-kind openai"}},
		{"-m m --trace-file x", []string{"error: there is no option --trace-file", "error: did you mean --trace-rate?"}},
		{"-h", []string{"usage"}},
		{"-m m --help", []string{"usage"}},
		{"--version", []string{"version"}},
		// Further rules.
		{"-m m -a --sync", []string{"error: --async does not go with --sync"}},
		{"-m m -i grpc --streaming --sync", []string{"error: --streaming does not go with --sync"}},
		{"-m m --grpc-compression-algorithm gzip", []string{"error: --grpc-compression-algorithm needs gRPC"}},
		{"-m m --input-data zero --input-data inputs.json", []string{"error: --input-data and data of files do not go together"}},
		{"-m m --input-data rndom", []string{`error: "rndom" is no value of --input-data`, "error: did you mean random?"}},
		{"-m m --input-data gone.json", []string{"warning: --input-data: there is no file or folder"}},
		{"-m m --data-directory tensors", []string{"data: {dir: tensors}"}},
		{"-m m --service-kind tfserving", []string{"error: --service-kind needs gRPC"}},
		{"-m m --service-kind tfserving -i grpc -a", []string{"error: --async does not go with tfserving"}},
		{"-m m --service-kind torchserve", []string{"error: --service-kind needs --input-data"}},
		{"-m m --service-kind triton_c_api", []string{"error: --service-kind needs --model-repository"}},
		{"-m m --service-kind triton-c-api", []string{`error: "triton-c-api" is no value of --service-kind`, "error: did you mean triton_c_api?"}},
		{"-m m --binary-search --concurrency-range 1:0 -l 5", []string{"error: --binary-search needs an end of the range above 0"}},
		{"-m m --binary-search --concurrency-range 1:8", []string{"error: --binary-search needs --latency-threshold"}},
		{"-m m --binary-search --concurrency-range 8:1 -l 5", []string{"error: --concurrency-range: the end is below the start"}},
		{"-m m --binary-search --concurrency-range 1:8:2 -l 5", []string{`search: {from: 1, to: 8, precision: 2, while: "latency.mean < 5ms"}`}},
		{"-m m --fixed-schedule", []string{"error: --fixed-schedule needs --input-data"}},
		{"-m m --fixed-schedule --input-data tensors", []string{"error: --fixed-schedule reads files"}},
		{"-m m --fixed-schedule --input-data schedule.json --request-count 1", []string{"error: --request-count does not go with --fixed-schedule"}},
		{"-m m --fixed-schedule --input-data schedule.json --warmup-request-count 2", []string{"error: --warmup-request-count is 2, the data has 2 rows"}},
		{"-m m --fixed-schedule --input-data seq.json", []string{`error: "data" of "seq.json" is no list of rows`}},
		{"-m m --fixed-schedule --input-data schedule.json", []string{"schedule: {}"}},
		{"-m m --enable-mpi", []string{"warning: --enable-mpi: put the stages", "No equal: --enable-mpi"}},
		{"-m m --enable-mpi --concurrency-range 1:4", []string{"error: --enable-mpi does not go with a range of levels"}},
		{"mpiexec -n 1 perf_analyzer -m a : -n 1 perf_analyzer -m b", []string{"error: a second perf_analyzer begins here"}},
		{"-m m --ssl-https-client-certificate-type DER", []string{"warning: --ssl-https-client-certificate-type: a plan's certificates"}},
		{"-m m --ssl-https-client-certificate-type der", []string{`error: "der" is no value`}},
		{"-m m -u https://h --ssl-https-verify-peer 0", []string{"tls: {verify: none}"}},
		{"-m m -u https://h --ssl-https-verify-host 1", []string{"tls: {verify: ca}"}},
		{"-m m --ssl-https-verify-host 3", []string{`error: "3" is no value of --ssl-https-verify-host`}},
		{"-m m --trace-level TIMESTAMPS --trace-level TENSORS", []string{"level: [TIMESTAMPS, TENSORS]"}},
		{"-m m --trace-level OFF", []string{"Not needed: --trace-level"}},
		{"-m m --trace-level LOUD", []string{`error: "LOUD" is no value of --trace-level`}},
		{"-m m --trace-count -2", []string{"error: --trace-count must be at least -1"}},
		{"-m m -H nocolon", []string{"error: -H wants a colon"}},
		{"-m m -H a:b:c", []string{`a: "b:c"`, "headers:"}},
		{"-m m -H a:${x}", []string{`a: "$${x}"`}},
		{"-m m --string-data true", []string{`No equal: --string-data: a plan names the input: data: {generate: {INPUT: "true"}}`}},
		{"-m m -u builtin://grpc -i grpc", []string{`url: "builtin://grpc"`}},
		{"-m m -i grpc -u https://h:1 --ssl-grpc-use-ssl", []string{`url: "grpcs://h:1"`}},
		{"-m m -x 1.0", []string{`model_version: "1.0"`}},
		{"-m 2024 -x 7", []string{`model: "2024"`, "model_version: 7 "}},
		{"-m m --shared-memory system --output-shared-memory-size 0", []string{"shared_memory: system ", "Not needed: --output-shared-memory-size"}},
		{"-m m -b 4 --input-data inputs.json", []string{"batch: 4 ", "data: {file: inputs.json, format: perf_analyzer}"}},
		{"-m m -z --string-length 5", []string{"generate: zero, count: 1, string_length: 5"}},
		{"-m m -z --input-data inputs.json", []string{"error: -z and data of files do not go together"}},
		{"-m m -i grpc -H a:b", []string{"headers:", "a: b"}},
		{"-m m -a -l 50 --concurrency-range 1:0", []string{`while: "latency.mean < 50ms"`, "metrics: [throughput, latency.mean]"}},
		{"-m m --request-intervals intervals.txt -l 5", []string{"intervals: {file: intervals.txt, unit: us, at_end: repeat}", "assert: [latency.mean < 5ms]"}},
		{"-m m --measurement-request-count 7", []string{"window: 5s", "Not needed: --measurement-request-count"}},
		{"-m m --trace-rate 5", []string{"trace: {rate: 5}"}},
		{"-m m -i GRPC", []string{`url: "grpc://localhost:8001"`}},
		{"-m m -i tcp", []string{`error: "tcp" is no value of -i`}},
		{"-m m -b 0", []string{"error: -b must be above 0"}},
		{"-m m --service-kind tfserving -i grpc --streaming", []string{"error: --streaming does not go with tfserving"}},
		{"-m m --service-kind triton_c_api --model-repository models -a --streaming --shared-memory system", []string{"error: --shared-memory does not go with --async and --streaming in process"}},
		{"-m m --service-kind openai -a --endpoint v1/chat/completions --input-data chat.json -i grpc", []string{"error: -i does not go with openai"}},
		{"-m m --enable-mpi --request-rate-range 1:4", []string{"error: --enable-mpi does not go with a range of levels"}},
		{"-m m --binary-search --request-rate-range 10:100:10 --request-distribution poisson -l 10", []string{`search: {from: 10/s, to: 100/s, precision: 10/s, while: "latency.mean < 10ms"}`, "arrivals: poisson"}},
		{"-m m -i grpc --input-data seq.json --sequence-length 4", []string{"length: 4}"}},
		{"-m m -i grpc --input-data seq.json --sequence-length 20", []string{"length: {min: 16, max: 24}"}},
		{"-m m -i grpc --input-data seq.json --sequence-length-variation 50", []string{"Not needed: --sequence-length-variation: the sequences of the data are as long as they are"}},
		{"-m m --warmup-request-count 7 --request-rate-range 5", []string{"warmup: 7 requests", "rate: 5/s"}},
		{"-m m -i grpc --grpc-compression-algorithm deflate", []string{"compression: deflate"}},
		{"-m m --collect-metrics --metrics-interval 250", []string{`every: 250ms, match: ["nv_gpu_*"]`}},
		{"-m m --trace-level TIMESTAMPS --trace-rate 5 --trace-count 7 --log-frequency 9", []string{"trace: {level: [TIMESTAMPS], rate: 5, count: 7, log_frequency: 9}"}},
		{"-m m -i grpc -u unix:/run/t.sock", []string{`url: "grpc+unix:///run/t.sock"`}},
		{"-m m -i grpc -u unix:///run/t.sock", []string{`url: "grpc+unix:///run/t.sock"`}},
		{"-m m -i grpc -u dns:///host:1", []string{`url: "grpc://host:1"`}},
		{"-m m --collect-metrics --metrics-interval 5", []string{"warning: --metrics-interval: metrics are read every 10ms to 3600s: 10ms is taken", "every: 10ms"}},
		{"-m m -b 2 --sequence-length 3 --num-of-sequences 4 --sequence-id-range 1:9 --request-rate-range 5", []string{"batch: 2 ", "Not needed: --sequence-length:", "Not needed: --num-of-sequences", "Not needed: --sequence-id-range"}},
		{"-m m --fixed-schedule --input-data schedule.json --sequence-length 3", []string{"schedule: {}", "Not needed: --sequence-length:"}},
		{"-m m --sequence-id-range 4294967295", []string{"ids: {from: 4294967295, to: 8589934589}"}},
		{"-m m -u https://h --ssl-https-client-certificate-file client.crt", []string{"tls: {cert: client.crt, key: client.crt}"}},
		{"-m m -i grpc --ssl-grpc-use-ssl --ssl-grpc-private-key-file client.key", []string{"Not needed: --ssl-grpc-private-key-file"}},
		{"-m m --service-kind triton_c_api --model-repository models --triton-server-directory tritonserver -i grpc --grpc-compression-algorithm gzip -H a:b --max-threads 3 --shared-memory system", []string{
			"inprocess: {server_dir: tritonserver, repository: models}", "Not needed: --grpc-compression-algorithm: the server runs inside the client",
			"Not needed: -H: the server", "Not needed: --max-threads: the server", "Not needed: --shared-memory: in process",
		}},
		{"-m m --service-kind triton_c_api --model-repository models --triton-server-directory tritonserver --shared-memory cuda", []string{"warning: --shared-memory: in process"}},
		// getopt_long's ways.
		{"-m m --concurrency=10", []string{"concurrency: 10 "}},
		{"-mm -b4 -va", []string{"batch: 4 ", "Not needed: -v", "Not needed: --async"}},
		{"-m m --s 3", []string{"error: --s is short for several options"}},
		{"-m m --async=yes", []string{`error: --async takes no value, "yes" is given`}},
		{"-m m -streaming", []string{"error: there is no option -streaming", "error: did you mean --streaming?"}},
	}
	for _, tt := range tests {
		t.Run(tt.line, func(t *testing.T) {
			args, err := shell.Split(tt.line)
			if err != nil {
				t.Fatal(err)
			}
			out, diags := convert.PerfAnalyzer(convert.Options{Args: args})
			got := reported(out, diags)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q is not reported:\n%s", want, got)
				}
			}
			if wantError := strings.HasPrefix(tt.want[0], "error:"); wantError != diags.HasErrors() || wantError && out.Plan != "" {
				t.Errorf("errors: %v, plan %q", diags, out.Plan)
			}
			if out.Plan != "" && !strings.Contains(tt.line, "gone.json") {
				valid(t, out.Plan)
			}
		})
	}
}

// TestIntegerOptions: options whose value is a whole number, each in every way that perf_analyzer's
// own tests have.
func TestIntegerOptions(t *testing.T) {
	write(t)
	const periodic = "-m m -i grpc --streaming --profile-export-file e.json --periodic-concurrency-range 1:3 "
	for option, c := range map[string]struct {
		beside, good string
		zero         string // what 0 is: a mistake, or nothing to speak of
	}{
		"--request-period":            {periodic, "responses: 2000", "must be above 0"},
		"--latency-threshold":         {"-m m ", "assert: [latency.mean < 2s]", ""},
		"--max-trials":                {"-m m ", "max_windows: 2000", "must be above 0"},
		"--measurement-interval":      {"-m m ", "window: 2s", "must be above 0"},
		"--measurement-request-count": {"-m m --measurement-mode count_windows ", "window: 2000 requests", "must be above 0"},
		"--num-of-sequences":          {"-m m --request-rate-range 5 ", "live: 2000", "must be above 0"},
		"--string-length":             {"-m m ", "string_length: 2000", "must be above 0"},
		"--output-shared-memory-size": {"-m m --shared-memory system ", "output_size: 2000B", ""},
		"--metrics-interval":          {"-m m --collect-metrics ", "every: 2s", "must be above 0"},
		"--log-frequency":             {"-m m --trace-level TENSORS ", "log_frequency: 2000", ""},
		"-b":                          {"-m m ", "batch: 2000", "must be above 0"},
	} {
		below := "must be above 0"
		if c.zero == "" {
			below = "must not be below 0"
		}
		for value, want := range map[string]string{
			"2000":                  c.good,
			"-2000":                 "error: " + option + " " + below,
			"0":                     "error: " + option + " " + c.zero,
			"29.5":                  `error: ` + option + ` wants a whole number, "29.5" is none`,
			"99999999999999999999":  "error: " + option + " wants a whole number",
			"9223372036854775808.0": "error: " + option + " wants a whole number",
			"":                      "error: a value is missing for " + option,
		} {
			if value == "0" && c.zero == "" {
				want = "version: 1"
			}
			out, diags := convert.PerfAnalyzer(convert.Options{Args: strings.Fields(c.beside + option + " " + value)})
			if got := reported(out, diags); !strings.Contains(got, want) || strings.HasPrefix(want, "error") != diags.HasErrors() {
				t.Errorf("%s %q: %q is not reported:\n%s", option, value, want, got)
			}
			if out.Plan != "" {
				valid(t, out.Plan)
			}
		}
	}
}

// reported lists everything that a conversion reports, one line each.
func reported(out convert.Converted, diags source.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		b.WriteString(string(d.Severity) + ": " + d.Summary + "\n")
		if d.Nearest != "" {
			b.WriteString(string(d.Severity) + ": did you mean " + d.Nearest + "?\n")
		}
	}
	if out.Usage {
		b.WriteString("usage\n")
	}
	if out.Version {
		b.WriteString("version\n")
	}
	return b.String() + out.Plan
}

// Every option is in the usage text, and each says what becomes of it.
func TestUsage(t *testing.T) {
	text := convert.PerfAnalyzerUsage()
	for _, option := range strings.Fields(`-m -x --model-signature-name --service-kind --bls-composing-models -v --measurement-mode --measurement-interval
		--measurement-request-count --stability-percentage --percentile --request-count --warmup-request-count --max-trials --concurrency-range
		--periodic-concurrency-range --request-period --request-parameter --session-concurrency --request-rate-range --request-distribution
		--request-intervals --fixed-schedule --latency-threshold --binary-search --max-threads --num-of-sequences --sequence-length
		--sequence-length-variation --sequence-id-range --serial-sequences --input-data -b --shape --string-data --string-length --shared-memory
		--output-shared-memory-size --input-tensor-format --output-tensor-format -i --async --sync --streaming -H --grpc-compression-algorithm
		--grpc-method --proto -u --endpoint --ssl-grpc-use-ssl --ssl-grpc-root-certifications-file --ssl-grpc-private-key-file
		--ssl-grpc-certificate-chain-file --ssl-https-verify-peer --ssl-https-verify-host --ssl-https-ca-certificates-file
		--ssl-https-client-certificate-file --ssl-https-private-key-file --ssl-https-client-certificate-type --ssl-https-private-key-type
		--triton-server-directory --model-repository --collect-metrics --metrics-url --metrics-interval -f --profile-export-file --verbose-csv
		--trace-level --trace-rate --trace-count --log-frequency --enable-mpi --version -z -d -t -c --data-directory`) {
		if !strings.Contains(text, option+" ") {
			t.Errorf("%s is not in the usage text", option)
		}
	}
}
