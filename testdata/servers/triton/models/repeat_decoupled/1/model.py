"""One response for each element of IN, DELAY[i] milliseconds before the i-th; IN may be empty. WAIT is how long, in
milliseconds, the model takes no further request."""

import threading
import time

import numpy
import triton_python_backend_utils as triton


def array(request, name):
    return triton.get_input_tensor_by_name(request, name).as_numpy().copy()


class TritonPythonModel:
    def execute(self, requests):
        wait = 0
        for request in requests:
            values, delays = array(request, "IN"), array(request, "DELAY")
            wait = max(wait, int(array(request, "WAIT")[0]))
            sender = request.get_response_sender()
            threading.Thread(target=respond, args=(sender, values, delays), daemon=True).start()
        time.sleep(wait / 1000)


def respond(sender, values, delays):
    for i, number in enumerate(values):
        if i < len(delays):
            time.sleep(int(delays[i]) / 1000)
        out = triton.Tensor("OUT", numpy.array([number], dtype=numpy.int32))
        index = triton.Tensor("IDX", numpy.array([i], dtype=numpy.uint32))
        sender.send(triton.InferenceResponse([out, index]))
    sender.send(flags=triton.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
