"""Says the words of text_input over and over, max_tokens of them (8): the first after 20 ms, the others 5 ms apart. With
stream false the whole text comes as one response."""

import threading
import time

import numpy
import triton_python_backend_utils as triton

FIRST, NEXT = 0.020, 0.005


def scalar(request, name, default):
    tensor = triton.get_input_tensor_by_name(request, name)
    return default if tensor is None else tensor.as_numpy().flat[0]


class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            text = scalar(request, "text_input", b"").decode()
            count = int(scalar(request, "max_tokens", 8))
            stream = bool(scalar(request, "stream", True))
            sender = request.get_response_sender()
            threading.Thread(target=respond, args=(sender, text, count, stream), daemon=True).start()


def respond(sender, text, count, stream):
    words = text.split() or ["word"]
    tokens = [words[i % len(words)] + " " for i in range(count)]
    for i, token in enumerate(tokens):
        time.sleep(NEXT if i else FIRST)
        if stream:
            sender.send(reply(token))
    if not stream:
        sender.send(reply("".join(tokens)))
    sender.send(flags=triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL)


def reply(text):
    return triton.InferenceResponse(
        [triton.Tensor("text_output", numpy.array([text.encode()], dtype=numpy.object_))]
    )
