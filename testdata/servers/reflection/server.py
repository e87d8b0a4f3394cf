"""The shop of shop.proto, with health and the reflection of Python, which is v1alpha alone."""

import sys
import time
from concurrent import futures

import grpc
import shop_pb2
import shop_pb2_grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

CODES = {code.value[0]: code for code in grpc.StatusCode}


class Shop(shop_pb2_grpc.ShopServicer):
    def answer(self, item, context):
        if item.sleep_ms:
            time.sleep(item.sleep_ms / 1000)
        if item.fail_code:
            context.abort(CODES[item.fail_code], "as asked")
        return item

    def Ask(self, item, context):
        return self.answer(item, context)

    def List(self, item, context):
        for i in range(item.number):
            yield self.answer(shop_pb2.Item(name=item.name, number=i, sleep_ms=item.sleep_ms), context)

    def Sum(self, items, context):
        return shop_pb2.Item(number=sum(self.answer(item, context).number for item in items))

    def Chat(self, items, context):
        for item in items:
            yield self.answer(item, context)


server = grpc.server(futures.ThreadPoolExecutor(max_workers=16))
shop_pb2_grpc.add_ShopServicer_to_server(Shop(), server)
health_pb2_grpc.add_HealthServicer_to_server(health.HealthServicer(), server)
reflection.enable_server_reflection(
    (shop_pb2.DESCRIPTOR.services_by_name["Shop"].full_name, health.SERVICE_NAME, reflection.SERVICE_NAME), server
)
server.add_insecure_port("127.0.0.1:" + sys.argv[1])
server.start()
server.wait_for_termination()
