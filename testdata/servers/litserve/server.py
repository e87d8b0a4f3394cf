"""A server of LitServe's OpenAISpec on port 18300 that answers with known words: as many as the request's limit, 5 ms apart.

The prompt "fail" raises an error after two words.
"""

import time

import litserve as ls

WORDS = "amber birch cedar dune ember fjord grove heath inlet jade knoll lagoon meadow north oasis prairie".split()


class Words(ls.LitAPI):
    def setup(self, device):
        pass

    def predict(self, request, context):
        fails = request.messages[-1].content == "fail"
        for i in range(request.max_tokens or 4):
            if fails and i == 2:
                raise RuntimeError("the model fell over")
            time.sleep(0.005)
            yield " " + WORDS[i % len(WORDS)]


if __name__ == "__main__":
    ls.LitServer(Words(spec=ls.OpenAISpec()), accelerator="cpu").run(
        host="127.0.0.1", port=18300, generate_client_file=False, num_api_servers=1
    )
