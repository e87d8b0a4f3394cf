"""A handler of TorchServe that answers with its body, or with the sizes of the fields of a form."""


class Handler:
    def initialize(self, ctx):
        pass

    def handle(self, data, ctx):
        return [self.answer(request) for request in data]

    def answer(self, request):
        if len(request) > 1:
            return {name: len(value) for name, value in request.items()}
        body = next(iter(request.values()))
        if body in ("boom", b"boom"):
            raise ValueError("boom")
        return body if isinstance(body, (str, dict)) else bytes(body)
