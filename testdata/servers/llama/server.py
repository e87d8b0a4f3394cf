"""The server of llama.cpp with the scripted model, from the wheel of xllamacpp: server.py MODEL PORT KIND.

    text        generates text, with the API key in LLAMA_KEY
    small       the same, with room for 256 tokens that all requests share: together they exceed it within their streams
    embeddings  answers /v1/embeddings
    ranks       answers /v1/rerank

Its own times of each request are in its log.
"""

import os
import signal
import sys

import xllamacpp


def main(model, port, kind):
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # before threads begin, which would take them
    p = xllamacpp.CommonParams()
    p.model.path, p.model_alias = model, {"scripted"}
    p.hostnames, p.port = ["127.0.0.1"], int(port)
    p.n_ctx, p.n_parallel, p.cache_ram_mib = 8192, 8, 0
    p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
    p.endpoint_metrics, p.ui = True, False
    match kind:
        case "text":
            p.api_keys = [os.environ["LLAMA_KEY"]]
        case "small":
            p.n_ctx, p.kv_unified = 256, True
        case "embeddings":
            p.embedding, p.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
        case "ranks":
            p.embedding, p.pooling_type = True, xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    server = xllamacpp.Server(p)
    print("listening", server.listening_address, flush=True)
    signal.sigwait(ends)
    os._exit(0)  # its own end waits for connections that clients keep


if __name__ == "__main__":
    main(*sys.argv[1:])
