"""The models of the conformance runs: sum and difference, identity, and identity that takes 20 ms."""

import asyncio

from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceResponse, ResponseOutput


class Model(MLModel):
    async def load(self):
        return True

    def answer(self, request, outputs):
        return InferenceResponse(
            id=request.id, model_name=self.name, model_version=self.version, outputs=outputs
        )


class Simple(Model):
    async def predict(self, request):
        a, b = (NumpyCodec.decode_input(tensor) for tensor in request.inputs)
        return self.answer(
            request,
            [NumpyCodec.encode_output("OUTPUT0", a + b), NumpyCodec.encode_output("OUTPUT1", a - b)],
        )


class Identity(Model):
    async def predict(self, request):
        return self.answer(
            request,
            [
                ResponseOutput(
                    name=tensor.name.replace("INPUT", "OUTPUT"),
                    shape=tensor.shape,
                    datatype=tensor.datatype,
                    data=tensor.data,
                )
                for tensor in request.inputs
            ],
        )


class Slow(Identity):
    async def load(self):
        self.one_at_a_time = asyncio.Lock()
        return True

    async def predict(self, request):
        async with self.one_at_a_time:
            await asyncio.sleep(0.020)
        return await super().predict(request)
