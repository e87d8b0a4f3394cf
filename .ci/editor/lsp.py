"""A client of a language server over stdio: documents, diagnostics, completion, hover."""

import json
import pathlib
import queue
import subprocess
import threading

TIMEOUT = 120  # seconds for any answer: a busy machine is no failure


class Client:
    def __init__(self, command, schema, log):
        self.settings = {
            "yaml": {
                "schemas": {pathlib.Path(schema).resolve().as_uri(): "*.yaml"},
                "schemaStore": {"enable": False, "url": ""},
                "kubernetesCRDStore": {"enable": False},
                "validate": True,
                "completion": True,
                "hover": True,
            },
        }
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.answers = {}  # by id of the request
        self.found = {}  # diagnostics by URI
        self.messages = queue.Queue()
        self.last = 0
        threading.Thread(target=self._read, daemon=True).start()
        folding = {"completionItem": {"snippetSupport": True, "documentationFormat": ["markdown"]}}
        capabilities = {
            "textDocument": {"completion": folding, "hover": {"contentFormat": ["markdown"]}, "publishDiagnostics": {}},
            "workspace": {"configuration": True, "didChangeConfiguration": {"dynamicRegistration": True}},
        }
        self.request("initialize", {"processId": None, "rootUri": None, "capabilities": capabilities})
        self.notify("initialized", {})
        self.notify("workspace/didChangeConfiguration", {"settings": self.settings})

    def _read(self):
        out = self.process.stdout
        while True:
            length = 0
            for line in iter(out.readline, b"\r\n"):
                if not line:
                    self.messages.put(None)
                    return
                if line.lower().startswith(b"content-length:"):
                    length = int(line.split(b":")[1])
            self.messages.put(json.loads(out.read(length)))

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _take(self):
        """Handles one message of the server."""
        try:
            message = self.messages.get(timeout=TIMEOUT)
        except queue.Empty:
            raise SystemExit(f"the language server did not answer within {TIMEOUT} s") from None
        if message is None:
            raise SystemExit("the language server ended")
        if message.get("method") == "workspace/configuration":
            values = [self.settings.get(item.get("section"), {}) for item in message["params"]["items"]]
            self._send({"id": message["id"], "result": values})
        elif message.get("method") == "textDocument/publishDiagnostics":
            self.found[message["params"]["uri"]] = message["params"]["diagnostics"]
        elif "method" in message and "id" in message:
            self._send({"id": message["id"], "result": None})
        elif "id" in message:
            if "error" in message:
                raise SystemExit(f"the language server failed: {message['error']}")
            self.answers[message["id"]] = message.get("result")

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def request(self, method, params):
        self.last += 1
        self._send({"id": self.last, "method": method, "params": params})
        while self.last not in self.answers:
            self._take()
        return self.answers.pop(self.last)

    def open(self, uri, text):
        self.notify("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "yaml", "version": 1, "text": text}})

    def diagnostics(self, uri):
        while uri not in self.found:
            self._take()
        return self.found[uri]

    def at(self, method, uri, text, offset):
        before = text[:offset]
        position = {"line": before.count("\n"), "character": len(before) - before.rfind("\n") - 1}
        return self.request(method, {"textDocument": {"uri": uri}, "position": position})

    def completion(self, uri, text, offset):
        """The offers at a position: label to the text that is inserted."""
        got = self.at("textDocument/completion", uri, text, offset) or []
        items = got["items"] if isinstance(got, dict) else got
        return {i["label"]: (i.get("textEdit") or {}).get("newText", i.get("insertText", i["label"])) for i in items}

    def hover(self, uri, text, offset):
        got = self.at("textDocument/hover", uri, text, offset)
        return got["contents"]["value"] if got else ""

    def close(self):
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.stdin.close()
        self.process.wait(timeout=TIMEOUT)
