"""Models of KServe's own SDK: ident returns its inputs, slow20 after 20 ms, and strict fails without an id."""

import argparse
import asyncio

from kserve import InferOutput, InferResponse, Model, ModelServer, model_server
from kserve.utils.utils import generate_uuid


class Identity(Model):
    def __init__(self, name, sleep=0.0, strict=False):
        super().__init__(name)
        self.sleep, self.strict, self.ready = sleep, strict, True

    async def predict(self, payload, headers=None, response_headers=None):
        if self.sleep:
            await asyncio.sleep(self.sleep)
        if isinstance(payload, dict):
            return {"predictions": payload["instances"]}
        if self.strict:
            raise RuntimeError("as asked")
        outputs = []
        for i in payload.inputs:
            out = InferOutput(name=i.name.replace("INPUT", "OUTPUT"), shape=list(i.shape), datatype=i.datatype)
            out.set_data_from_numpy(i.as_numpy(), binary_data=False)
            outputs.append(out)
        return InferResponse(
            response_id=payload.id or generate_uuid(), model_name=self.name, infer_outputs=outputs
        )


parser = argparse.ArgumentParser(parents=[model_server.parser])
args, _ = parser.parse_known_args()
ModelServer().start([Identity("ident"), Identity("slow20", 0.02), Identity("strict", strict=True)])
