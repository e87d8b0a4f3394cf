"""Identity that takes 10 ms for each request that the cache does not answer, one request at a time."""

import time

import triton_python_backend_utils as triton

SERVICE_TIME = 0.010


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        time.sleep(SERVICE_TIME)
        x = triton.get_input_tensor_by_name(request, "INPUT0").as_numpy()
        return triton.InferenceResponse([triton.Tensor("OUTPUT0", x)])
