"""OUTPUT is the sum of the INPUTs of a sequence so far. A step of a sequence that was not started, or that was started
twice, is answered with an error and printed to the server's log."""

import numpy
import triton_python_backend_utils as triton


def value(request, name):
    return int(triton.get_input_tensor_by_name(request, name).as_numpy().flat[0])


class TritonPythonModel:
    def initialize(self, args):
        self.sums = {}

    def execute(self, requests):
        return [self.answer(request) for request in requests]

    def answer(self, request):
        if not value(request, "READY"):
            return self.reply(0)
        key, start = value(request, "CORRID"), value(request, "START")
        if start and key in self.sums:
            return self.refuse(f"sequence {key} was started while it was open")
        if not start and key not in self.sums:
            return self.refuse(f"sequence {key} was not started")
        self.sums[key] = self.sums.get(key, 0) + value(request, "INPUT")
        total = self.sums[key]
        if value(request, "END"):
            del self.sums[key]
        return self.reply(total)

    def reply(self, total):
        return triton.InferenceResponse(
            [triton.Tensor("OUTPUT", numpy.full((1, 1), total, dtype=numpy.int32))]
        )

    def refuse(self, why):
        triton.Logger.log_error("protocol: " + why)
        return triton.InferenceResponse(error=triton.TritonError(why))
