#!/usr/bin/env python3
"""A client and a worker written from docs/PROTOCOL.md alone, over CURVE: submit, query, register, prove, lease, return segments.

Usage: Tests/cli/protocol.py PATH-OF-WEFT SOURCE        (needs pyzmq)

The worker speaks for a real slot: it takes every message apart, checks it, and puts it together again, so that the encoding is
the only thing it does not do itself.
"""
import json
import os
import subprocess
import sys
import tempfile
import time

import zmq

WEFT, SOURCE = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
context = zmq.Context()


def dealer(address, key):
    socket = context.socket(zmq.DEALER)
    socket.linger = 0
    socket.curve_serverkey = key["server"].encode()
    socket.curve_publickey = key["public"].encode()
    socket.curve_secretkey = key["secret"].encode()
    socket.connect(address)
    return socket


def pack(kind, **fields):
    return json.dumps({"weft": 1, "type": kind, **fields}).encode()


class Client:
    def __init__(self, address, key):
        self.socket, self.number = dealer(address, key), 0

    def ask(self, kind, **fields):
        """All replies to one request, as one list of rows or one dictionary."""
        self.number += 1
        self.socket.send(pack(kind, request=self.number, **fields))
        rows = []
        while True:
            assert self.socket.poll(20_000), f"no answer to {kind}"
            reply = json.loads(self.socket.recv_multipart()[0])
            if reply["type"] == "refused":
                return reply
            if reply["request"] != self.number:
                continue
            if "rows" not in reply:
                return reply
            rows += reply["rows"]
            if not reply["more"]:
                return rows


def relay(slot_side, coordinator, seen):
    """Hands on what has come, for a tenth of a second."""
    poller = zmq.Poller()
    poller.register(slot_side, zmq.POLLIN)
    poller.register(coordinator, zmq.POLLIN)
    for socket, _ in poller.poll(100):
        frames = socket.recv_multipart()
        if socket is slot_side:
            seen["peer"], header, payload = frames[0], json.loads(frames[1]), frames[2:]
        else:
            header, payload = json.loads(frames[0]), frames[1:]
        kind = header.pop("type")
        assert header.pop("weft") == 1
        seen.setdefault(kind, []).append(header)
        if kind == "chunk":
            # Without gaps, and never more than was granted.
            sent = seen.setdefault("sent", {}).setdefault(header["lease"], [0, 0])
            assert (header["sequence"], header["offset"]) == tuple(sent), header
            sent[0], sent[1] = sent[0] + 1, sent[1] + len(payload[0])
        if kind == "result":
            assert header["bytes"] == seen["sent"][header["lease"]][1] and len(header["hash"]) == 32
            table = b"".join(payload[1:])
            assert int.from_bytes(table[0:4], "little") == 1
            assert int.from_bytes(table[4:8], "little") == header["samples"]
        message = [pack(kind, a_field_of_the_future=True, **header)] + payload
        if socket is slot_side:
            coordinator.send_multipart(message)
        else:
            slot_side.send_multipart([seen["peer"]] + message)


def main(folder):
    state = folder + "/state"
    environment = {**os.environ, "XDG_STATE_HOME": folder, "XDG_CONFIG_HOME": folder}
    keys = {}
    for role in ("worker", "client", "observer"):
        path = f"{folder}/{role}.key"
        subprocess.run([WEFT, "keys", "new", "--role", role, "--out", path, "--state", state], check=True,
                       stdout=subprocess.DEVNULL, env=environment)
        keys[role] = json.load(open(path))
    server = subprocess.Popen(
        [WEFT, "coordinator", "--listen", "tcp://127.0.0.1:0", "--state", state, "--require-keys", "--json"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    slot = None
    try:
        text = ""
        while not text.endswith("}\n"):
            text += server.stdout.readline().decode()
        address = json.loads(text)["listening"][0]
        client = Client(address, keys["client"])
        observer = Client(address, keys["observer"])
        wrong = Client(address, keys["worker"])
        assert client.ask("query", subject="jobs") == []
        order = dict(source=SOURCE, destination=folder + "/out.mp4",
                     settings={"encoder_options": {"preset": "ultrafast"}, "end": {"value": 40, "timescale": 1}},
                     stated=["encoder-option", "end"])
        for other in (observer, wrong):
            assert other.ask("submit", **order)["failure"]["exit_code"] == 77
        job = client.ask("submit", **order)["job"]

        coordinator = dealer(address, keys["worker"])
        slot_side = context.socket(zmq.ROUTER)
        slot_side.linger = 0
        slot_side.bind(f"ipc://{folder}/slot")
        slot = subprocess.Popen([WEFT, "slot", "--connect", f"ipc://{folder}/slot", "--node", "python", "--incarnation", "1"],
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment)
        seen, deadline, report = {}, time.time() + 60, {}
        while report.get("state") not in ("done", "failed"):
            assert time.time() < deadline, report
            relay(slot_side, coordinator, seen)
            report = observer.ask("query", subject="job", job=job)[0]
        assert report["state"] == "done", report
        assert report["proof"]["pass"] and os.path.getsize(folder + "/out.mp4") == report["output_bytes"]
        for kind in ("hello", "welcome", "ready", "prove", "fingerprint", "lease", "progress", "chunk", "result"):
            assert seen.get(kind) or kind == "progress", f"no {kind} was seen"
        segments = client.ask("query", subject="segments", job=job)
        assert [row["state"] for row in segments] == ["done"] * report["segments"]
        assert all(row["attempts"][-1]["node"] == "python" for row in segments)
        assert {"submitted", "leased", "accepted", "done"} <= {row["kind"] for row in client.ask("query", subject="events")}
        assert client.ask("control", action="cancel", target=job)["type"] == "failure"

        # What is not the protocol is refused, and nobody else notices.
        client.socket.send(b'{"weft": 2, "type": "query"}')
        assert client.socket.poll(5000) and json.loads(client.socket.recv())["type"] == "refused"
        client.socket.send(b"\xff\x00 nonsense")
        assert client.socket.poll(5000) and json.loads(client.socket.recv())["type"] == "refused"
        # A result for a lease that is nobody's is answered with a revocation.
        coordinator.send(pack("progress", lease=f"{job}:1", frames=1))
        assert coordinator.poll(5000)
        while json.loads(coordinator.recv_multipart()[0])["type"] != "revoke":
            assert coordinator.poll(5000)
        print(f"protocol: {report['segments']} segments, {sum(len(v) for v in seen.values() if isinstance(v, list))} messages")
    finally:
        if slot:
            slot.kill()
        server.terminate()
        server.wait(10)


with tempfile.TemporaryDirectory() as folder:
    main(folder)
context.destroy(linger=0)
