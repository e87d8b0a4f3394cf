"""Calls the model slow twice, one after the other, from inside its own code: what it calls is in no configuration."""

import triton_python_backend_utils as triton

CALLED = "slow"


class TritonPythonModel:
    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        x = triton.get_input_tensor_by_name(request, "INPUT0")
        for _ in range(2):
            inner = triton.InferenceRequest(
                model_name=CALLED,
                requested_output_names=["OUTPUT0"],
                inputs=[triton.Tensor("INPUT0", x.as_numpy())],
            ).exec()
            if inner.has_error():
                return triton.InferenceResponse(error=inner.error())
            x = triton.get_output_tensor_by_name(inner, "OUTPUT0")
        return triton.InferenceResponse([triton.Tensor("OUTPUT0", x.as_numpy())])
