"""Sum and difference of two vectors of 16 integers."""

import triton_python_backend_utils as triton


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        a = triton.get_input_tensor_by_name(request, "INPUT0").as_numpy()
        b = triton.get_input_tensor_by_name(request, "INPUT1").as_numpy()
        return triton.InferenceResponse(
            [triton.Tensor("OUTPUT0", a + b), triton.Tensor("OUTPUT1", a - b)]
        )
