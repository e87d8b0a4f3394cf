"""A handler of TorchServe that streams eight words, 5 ms apart."""
import time

from ts.handler_utils.utils import send_intermediate_predict_response


class Handler:
    def initialize(self, ctx):
        pass

    def handle(self, data, ctx):
        for k in range(7):
            send_intermediate_predict_response(
                [f"word{k} "], ctx.request_ids, "Intermediate Prediction success", 200, ctx)
            time.sleep(0.005)
        return ["done"]
