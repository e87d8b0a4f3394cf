package executor

import (
	"strings"
	"testing"

	"github.com/sluice-bench/sluice/schema"
)

// proven are the keys that have a test of their own, and its name.
func proven() map[string]string {
	keys := map[string]string{}
	for test, list := range map[string]string{
		"TestNames": "version name description labels stages stages.id stages.description " +
			"stages.labels",
		"TestSeed":     "seed",
		"TestSecrets":  "vars.NAME.env vars.NAME.secret",
		"TestRequired": "vars.NAME.required", // of scenario
		"TestTLS": "target.tls target.tls.ca target.tls.cert target.tls.key " +
			"target.tls.server_name target.tls.verify target.tls.min_version",
		"TestTimeouts":     "target.timeout target.connect_timeout target.ready",
		"TestConnections":  "target.connections",
		"TestStreaming":    "target.streaming",
		"TestStreamFaults": "target.inactivity_timeout",
		"TestPeriodic": "stages.load.concurrency.periodic " +
			"stages.load.concurrency.periodic.from stages.load.concurrency.periodic.to " +
			"stages.load.concurrency.periodic.step stages.load.concurrency.periodic.responses",
		"TestEndpoints": "target.endpoint",
		"TestPrompts": "target.tokenizer data.prompts data.prompts.count data.prompts.input_tokens " +
			"data.prompts.output_tokens data.prompts.system data.prompts.prefixes data.prompts.prefixes.count " +
			"data.prompts.prefixes.tokens data.prompts.reuse data.prompts.corpus",
		"TestPromptMedia": "data.prompts.images data.prompts.images.count data.prompts.images.width " +
			"data.prompts.images.height data.prompts.images.format data.prompts.audio data.prompts.audio.seconds " +
			"data.prompts.audio.seconds.mean data.prompts.audio.seconds.std data.prompts.audio.seconds.min " +
			"data.prompts.audio.seconds.max data.prompts.audio.seconds.shape data.prompts.audio.seconds.values " +
			"data.prompts.audio.sample_rate data.prompts.audio.format",
		"TestPromptSessions": "data.prompts.turns data.prompts.delay data.prompts.context",
		"TestPromptMixture": "data.prompts.lengths data.prompts.lengths.input data.prompts.lengths.output " +
			"data.prompts.lengths.weight", // of feed
		"TestText":       "target.path",
		"TestMaxMessage": "target.max_message",
		"TestStatistics": "target.statistics",
		"backends/triton_inprocess": "target.inprocess target.inprocess.server_dir " +
			"target.inprocess.repository target.inprocess.options",
		"TestComposing": "target.composing_models",
		"TestSettings": "target.trace target.trace.level target.trace.rate target.trace.count " +
			"target.trace.log_frequency target.log target.log.info target.log.warning target.log.error " +
			"target.log.verbose target.log.format",
		"TestMetrics": "target.metrics target.metrics.url target.metrics.every " +
			"target.metrics.match",
		"TestEngine":       "target.metrics.labels",
		"TestModelControl": "stages.before.load_model stages.before.unload_model",
		"TestModelConfig": "stages.before.load_model.name stages.before.load_model.config CONFIG.max_batch_size " +
			"CONFIG.instance_group CONFIG.instance_group.count",
		"TestBest": "stages.best stages.best.max stages.best.min stages.best.where",
		"scenario: TestValidPlans, .ci/run triton": "CONFIG.instance_group.kind CONFIG.instance_group.gpus " +
			"CONFIG.instance_group.rate_limiter CONFIG.instance_group.rate_limiter.resources " +
			"CONFIG.instance_group.rate_limiter.resources.name CONFIG.instance_group.rate_limiter.resources.count " +
			"CONFIG.instance_group.rate_limiter.resources.global CONFIG.instance_group.rate_limiter.priority " +
			"CONFIG.instance_group.profile CONFIG.instance_group.passive CONFIG.instance_group.host_policy " +
			"CONFIG.instance_group.name CONFIG.dynamic_batching CONFIG.dynamic_batching.preferred_batch_size " +
			"CONFIG.dynamic_batching.max_queue_delay_microseconds CONFIG.dynamic_batching.preserve_ordering " +
			"CONFIG.dynamic_batching.priority_levels CONFIG.dynamic_batching.default_priority_level " +
			"CONFIG.dynamic_batching.default_queue_policy CONFIG.dynamic_batching.default_queue_policy.timeout_action " +
			"CONFIG.dynamic_batching.default_queue_policy.default_timeout_microseconds " +
			"CONFIG.dynamic_batching.default_queue_policy.allow_timeout_override " +
			"CONFIG.dynamic_batching.default_queue_policy.max_queue_size CONFIG.dynamic_batching.priority_queue_policy " +
			"CONFIG.response_cache CONFIG.response_cache.enable CONFIG.parameters CONFIG.optimization " +
			"CONFIG.sequence_batching CONFIG.version_policy",
		"TestExpect": "stages.expect stages.expect.outputs stages.expect.relative " +
			"stages.expect.absolute stages.expect.status stages.expect.sample stages.expect.fields",
		"TestLevels": "stages.load stages.load.concurrency stages.load.rate " +
			"stages.load.concurrency.levels stages.load.concurrency.levels.from stages.load.concurrency.levels.to " +
			"stages.load.concurrency.levels.step stages.load.concurrency.levels.factor " +
			"stages.load.concurrency.levels.while stages.load.concurrency.levels.while.slo " +
			"stages.load.rate.levels stages.load.rate.levels.from stages.load.rate.levels.to " +
			"stages.load.rate.levels.step stages.load.rate.levels.factor stages.load.rate.levels.while",
		"TestSequences":        "stages.load.of stages.sequences",
		"TestSessionTimes":     "data.timing data.idle_cap",
		"TestSampleOfSessions": "data.sample",
		"TestCancel":           "stages.cancel stages.cancel.ratio stages.cancel.after stages.mix.NAME.cancel",
		"TestSequenceKeys": "stages.sequences.live stages.sequences.length stages.sequences.ids " +
			"stages.sequences.ids.from stages.sequences.ids.to stages.sequences.ids.text stages.sequences.serial",
		"TestInFlight": "stages.load.max_in_flight",
		"TestDropped":  "stages.load.overflow",
		"TestSchedule": "stages.load.arrivals",
		"TestLoads": "stages.load.rate.ramp stages.load.rate.ramp.to " +
			"stages.load.rate.ramp.over stages.load.rate.ramp.hold stages.load.rate.ramp.name " +
			"stages.load.intervals stages.load.intervals.file stages.load.intervals.unit " +
			"stages.load.intervals.first stages.load.intervals.at_end stages.load.schedule " +
			"stages.load.schedule.file stages.load.schedule.unit stages.load.schedule.speed " +
			"stages.load.schedule.from stages.load.schedule.to stages.load.arrivals.cv stages.load.arrivals.exact",
		"TestSlotsRamp": "stages.load.concurrency.ramp stages.load.concurrency.ramp.to " +
			"stages.load.concurrency.ramp.over stages.load.concurrency.ramp.hold stages.load.concurrency.ramp.name",
		"cmd/sluice: stages.txtar": "stages.load.rate.search stages.load.rate.search.from " +
			"stages.load.rate.search.to stages.load.rate.search.precision stages.load.rate.search.confirm " +
			"stages.load.rate.search.while",
		"cmd/sluice: http.txtar": "target.path target.method",
		"cmd/sluice: torchserve.txtar, TestManagement": "target.management target.management.url " +
			"target.management.headers",
		"cmd/sluice: tfserving.txtar": "target.signature target.tensors.layout",
		"cmd/sluice: grpc.txtar": "target.protos target.protos.files target.protos.include " +
			"target.protos.descriptor_set",
		"TestSearch, TestSearchSlots": "stages.load.concurrency.search stages.load.concurrency.search.from " +
			"stages.load.concurrency.search.to stages.load.concurrency.search.precision " +
			"stages.load.concurrency.search.confirm stages.load.concurrency.search.while",
		"TestCompression": "target.compression",
		"TestSharedMemory": "stages.shared_memory stages.shared_memory.kind " +
			"stages.shared_memory.output_size",
		"TestCUDASharedMemory": "stages.shared_memory.device", // in binaries with the tag cuda
		"TestThink":            "stages.load.think",
		"TestMixTargets":       "stages.mix stages.mix.NAME.target stages.mix.NAME.weight",
		"TestMixKeys": "stages.mix.NAME.data stages.mix.NAME.model stages.mix.NAME.batch " +
			"stages.mix.NAME.shapes stages.mix.NAME.outputs stages.mix.NAME.parameters stages.mix.NAME.headers " +
			"stages.mix.NAME.expect",
		"TestGroup":       "stages.parallel",
		"TestDelay":       "stages.delay",
		"TestMaxDuration": "max_duration stages.max_duration",
		"TestBeforeAfter": "stages.before stages.before.call stages.after",
		"TestRepeat":      "stages.matrix stages.repeat",
		"TestLimits": "validity stages.validity " +
			"stages.validity.send_delay stages.validity.pause stages.validity.paused",
		"TestGoodput": "stages.goodput",
		"TestCounts":  "stages.for stages.warmup",
		"TestStable": "stages.until stages.until.stable stages.until.stable.windows " +
			"stages.until.stable.window stages.until.stable.within stages.until.stable.max_windows " +
			"stages.until.stable.metrics",
		"TestDrain":      "stages.drain",
		"TestGraphRules": "stages.needs stages.when stages.on_fail",
		"TestAssertions": "slos assert stages.assert slos.NAME.that slos.NAME.slo slos.NAME.id " +
			"slos.NAME.description slos.NAME.severity slos.NAME.min_samples slos.NAME.on_no_data",
		"TestBaseline":                "baseline baseline.file baseline.if_missing",
		"TestConfidence":              "slos.NAME.confidence stages.until.precise stages.until.confidence",
		"TestWindows":                 "slos.NAME.every slos.NAME.allow slos.NAME.within",
		"TestAbortEndsTheRun":         "slos.NAME.abort",
		"TestPercentiles":             "output output.percentiles",
		"cmd/sluice: artifacts.txtar": "output.dir output.formats",
		"cmd/sluice: samples.txtar":   "output.samples",
		"cmd/sluice: requests.txtar":  "data.history data.prompts.exact_output",
		"cmd/sluice: command.txtar":   "data.command",
		"cmd/sluice: TestServerConfig": "target.builtin target.builtin.service_time " +
			"target.builtin.service_time.mean target.builtin.service_time.std target.builtin.service_time.min " +
			"target.builtin.service_time.max target.builtin.service_time.shape target.builtin.service_time.values " +
			"target.builtin.instances target.builtin.max_batch target.builtin.queue_delay target.builtin.errors " +
			"target.builtin.reset target.builtin.stall target.builtin.stall.at target.builtin.stall.for " +
			"target.builtin.stall.every target.builtin.slow_body " +
			"target.builtin.ttft target.builtin.itl target.builtin.api_key " +
			"target.builtin.generation target.builtin.generation.output_tokens " +
			"target.builtin.generation.tokens_per_event target.builtin.generation.first_event_tokens " +
			"target.builtin.generation.burst target.builtin.generation.hidden_tokens " +
			"target.builtin.generation.held_tokens target.builtin.generation.reasoning_tokens " +
			"target.builtin.generation.usage target.builtin.generation.fail_after " +
			"target.builtin.generation.stuck target.builtin.generation.tool_calls " +
			"target.builtin.generation.prefix_cache target.builtin.generation.close_silent",
		"scenario: TestMergeRule": "extends profiles",
		// What a variable is for is read by people, in the plan.
		"TestProbes":           "target.probe",
		"TestTensorParameters": "stages.outputs.parameters",
		"TestCountersArrive":   "data.counters data.counters.NAME.from data.counters.NAME.to",
		"nobody":               "vars.NAME.description",
	} {
		for _, k := range strings.Fields(list) {
			keys[strings.Replace(k, "CONFIG", "stages.before.load_model.config", 1)] = test
		}
	}
	for _, p := range proofs() {
		for _, k := range strings.Fields(p.keys) {
			keys[k] = "TestLanguage"
		}
	}
	return keys
}

// TestEveryKey: each key that the schema accepts has a proof, and each proof is about a key that
// there is.
func TestEveryKey(t *testing.T) {
	proven, built := proven(), map[string]bool{}
	for _, k := range schema.Keys() {
		built[k] = true
		if proven[k] == "" {
			t.Errorf("nothing shows what %s does", k)
		}
	}
	for k := range proven {
		if !built[k] {
			t.Errorf("%s is proven by %s but is no key that is built", k, proven[k])
		}
	}
}
