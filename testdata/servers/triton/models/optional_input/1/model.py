"""OUTPUT0 is INPUT0 + INPUT1; where INPUT1 is left out, INPUT0 + 1."""

import numpy
import triton_python_backend_utils as triton


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        x = triton.get_input_tensor_by_name(request, "INPUT0").as_numpy()
        y = triton.get_input_tensor_by_name(request, "INPUT1")
        added = numpy.float32(1) if y is None else y.as_numpy()
        return triton.InferenceResponse([triton.Tensor("OUTPUT0", x + added)])
