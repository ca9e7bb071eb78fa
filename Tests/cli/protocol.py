#!/usr/bin/env python3
"""A client and two workers written from docs/PROTOCOL.md alone, over CURVE: submit, query, register, prove, lease, return segments.

Usage: Tests/cli/protocol.py PATH-OF-WEFT SOURCE        (needs pyzmq and xxhash, and the ffmpeg programs)

The first worker speaks for a real slot: it takes every message apart, checks it, and puts it together again. The second has
nothing of weft in it: it encodes with the ffmpeg program and makes the result's payload itself.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import time

import xxhash
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


    def segment(self, job, index):
        """The whole spool file of a finished segment, and the last answer's header."""
        file = b""
        while True:
            self.number += 1
            self.socket.send(pack("query", request=self.number, subject="samples", job=job, segment=index, offset=len(file)))
            assert self.socket.poll(20_000), "no answer to samples"
            header, *payload = self.socket.recv_multipart()
            header = json.loads(header)
            if header["type"] == "failure":
                return header
            assert header["type"] == "samples" and header["offset"] == len(file) and len(payload) == 1, header
            assert 0 < len(payload[0]) <= 1 << 20
            file += payload[0]
            if len(file) == header["size"]:
                return file, header


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


class OutsideWorker:
    """One slot that encodes with the ffmpeg program."""

    NO_TIME = -(1 << 63)

    def __init__(self, address, key):
        self.socket = dealer(address, key)
        self.credit, self.queue, self.said = 0, [], []
        self.say("hello", role="slot", node="outsider", slot=0, incarnation="1", pid=os.getpid(), host="outside",
                 version="0", protocols=[1], encoders=[{"name": "libx264", "hardware": False}], cores=1,
                 memory=1 << 30, threads=1)

    def say(self, kind, payload=(), **fields):
        self.socket.send_multipart([pack(kind, **fields), *payload])
        self.said.append(kind)

    def hear(self, milliseconds):
        """The next message that was not heard yet; None when none comes."""
        if self.queue:
            return self.queue.pop(0)
        return json.loads(self.socket.recv_multipart()[0]) if self.socket.poll(milliseconds) else None

    def step(self):
        message = self.hear(100)
        kind = message["type"] if message else None
        if kind == "welcome":
            self.say("ready")
        elif kind == "prove":
            self.say("fingerprint", job=message["job"], hash=self.proof(message["recipe"]))
        elif kind == "lease":
            self.work(message)
            self.say("ready")
        elif kind in ("refused", "revoke"):
            raise AssertionError(message)

    # -- Encoding

    def encode(self, recipe, source, pictures, data=None):
        """Extradata and packets [(pts, dts, duration, is_sync, bytes)] in decode order, times in ticks of the recipe."""
        base = recipe["time_base"]
        options = [word for pair in recipe["options"].items() for word in ("-" + pair[0], pair[1])]
        command = ["ffmpeg", "-nostdin", "-v", "error", *source, "-map", "0:v:0", "-vf", pictures, "-fps_mode", "passthrough",
                   "-c:v", recipe["encoder"], "-pix_fmt", recipe["pixel_format"], "-threads", str(recipe["threads"]), *options,
                   "-flags", "+global_header", "-enc_time_base", f"{base['numerator']}/{base['denominator']}",
                   "-avoid_negative_ts", "disabled", "-f", "nut", "-y", self.file]
        if data is not None:
            command.remove("-nostdin")
        subprocess.run(command, input=data, check=True)
        probe = json.loads(subprocess.run(
            ["ffprobe", "-v", "error", "-show_packets", "-show_streams", "-show_data", "-of", "json", self.file],
            check=True, capture_output=True).stdout)
        stream = probe["streams"][0]
        numerator, denominator = (int(part) for part in stream["time_base"].split("/"))

        def ticks(value):
            exact, rest = divmod(value * numerator * base["denominator"], denominator * base["numerator"])
            assert rest == 0, "a time of the encoder is no tick of the recipe"
            return exact

        packets = [(ticks(p["pts"]), ticks(p["dts"]) if "dts" in p else self.NO_TIME, ticks(p.get("duration", 0)),
                    "K" in p["flags"], self.dump(p["data"])) for p in probe["packets"]]
        return self.dump(stream["extradata"]), packets

    @staticmethod
    def dump(text):
        """Bytes of ffprobe's hexadecimal dump."""
        return b"".join(bytes.fromhex(line.split(": ", 1)[1][:40]) for line in text.strip().split("\n"))

    def proof(self, recipe):
        """The five reference frames of the page, encoded: XXH3-128 of extradata and samples."""
        assert recipe["pixel_format"] == "yuv420p"
        width, height, frames = recipe["width"], recipe["height"], bytearray()
        for number in range(5):
            for plane in range(3):
                columns, rows = (width, height) if plane == 0 else ((width + 1) // 2, (height + 1) // 2)
                noise = (2463534242 + 97 * plane + 131 * number) & 0xFFFFFFFF
                for row in range(rows):
                    for column in range(columns):
                        noise ^= (noise << 13) & 0xFFFFFFFF
                        noise ^= noise >> 17
                        noise ^= (noise << 5) & 0xFFFFFFFF
                        frames.append((((column + 2 * row + 5 * number) >> 1) + (noise & 15)) & 0xFF)
        rate = f"{recipe['frame_rate_numerator']}/{recipe['frame_rate_denominator']}"
        extradata, packets = self.encode(
            recipe, ["-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{width}x{height}", "-r", rate, "-i", "-"], "null",
            bytes(frames))
        assert len(packets) == 5
        return xxhash.xxh3_128(extradata + b"".join(packet[4] for packet in packets)).hexdigest()

    # -- A lease

    def work(self, lease):
        assert lease["access"] == "direct"
        stamp, status = lease["source"]["fingerprint"], os.stat(lease["source"]["location"])
        assert (stamp["size"], stamp["modified"]) == (status.st_size, status.st_mtime_ns), "this is another source"
        begun, name, segment, recipe = time.time(), lease["lease"], lease["segment"], lease["recipe"]
        self.say("progress", lease=name, frames=0)
        owned = f"select='gte(pts,{segment['start']})*lt(pts,{segment['end']})'"
        extradata, packets = self.encode(recipe, ["-copyts", "-i", lease["source"]["location"]], owned)
        assert packets[0][3] and all(segment["start"] <= packet[0] < segment["end"] for packet in packets)
        samples, self.credit = b"".join(packet[4] for packet in packets), lease["credit"]
        size = lease["chunk_bytes"]
        for sequence, offset in enumerate(range(0, len(samples), size)):
            chunk = samples[offset:offset + size]
            self.pay(name, len(chunk))
            self.say("chunk", [chunk], lease=name, sequence=sequence, offset=offset)
        table = struct.pack("<IIII", 1, len(packets), 0, 0) + b"".join(
            struct.pack("<qqqII", pts, dts, duration, len(data), 1 if sync else 0)
            for pts, dts, duration, sync, data in packets)
        times = [packet[0] for packet in packets]
        self.say("result", [self.description(recipe, extradata), table], lease=name, frames=len(packets), samples=len(packets),
                 bytes=len(samples), hash=xxhash.xxh3_128(samples).hexdigest(), stage_seconds={}, seconds=time.time() - begun,
                 first_pts=min(times), last_pts=max(times), bytes_read=stamp["size"], warnings=[])
        # Until the result is durable, these bytes may be wanted again.
        while True:
            message = self.hear(20_000)
            assert message, "no word about the result"
            if message["type"] == "accepted" and message["lease"] == name:
                return
            assert message["type"] == "credit", message

    def pay(self, name, count):
        while self.credit < count:
            assert self.socket.poll(20_000), "no credit"
            message = json.loads(self.socket.recv_multipart()[0])
            if message["type"] == "credit" and message["lease"] == name:
                self.credit += message["bytes"]
            else:
                self.queue.append(message)
        self.credit -= count

    @staticmethod
    def description(recipe, extradata):
        def text(word):
            return bytes([len(word)]) + word.encode()

        numbers = [0, 0, -99, -99, recipe["width"], recipe["height"], recipe["aspect"]["numerator"],
                   recipe["aspect"]["denominator"], 1, 0, 2, 2, 2, 1, 0, 0, 0, 0, 0, 0, 0,
                   recipe["frame_rate_numerator"], recipe["frame_rate_denominator"]]
        return (b"WFMT" + struct.pack("<H", 1) + text("video") + text("h264") + struct.pack("<I", 0)
                + text(recipe["pixel_format"]) + struct.pack("<23i", *numbers) + struct.pack("<q", 0) + text("")
                + struct.pack("<I", len(extradata)) + extradata + struct.pack("<H", 0))


def outside(folder, address, keys, client):
    """A job that nobody but the outside worker works on."""
    order = dict(source=SOURCE, destination=folder + "/outside.mp4",
                 settings={"encoder_options": {"preset": "ultrafast"}, "audio_codec": "none",
                           "segment_duration": {"value": 4, "timescale": 1}, "end": {"value": 12, "timescale": 1}},
                 stated=["encoder-option", "audio", "end"])
    job = client.ask("submit", **order)["job"]
    worker, deadline, report = OutsideWorker(address, keys["worker"]), time.time() + 90, {}
    worker.file = folder + "/segment.nut"
    while report.get("state") not in ("done", "failed"):
        assert time.time() < deadline, report
        worker.step()
        report = client.ask("query", subject="job", job=job)[0]
    assert report["state"] == "done" and report["proof"]["pass"], report
    rows = client.ask("query", subject="segments", job=job)
    assert all(row["attempts"][-1]["worker"] == "outsider/0" for row in rows), rows
    # The file plays, every frame of it.
    decoded = subprocess.run(
        ["ffprobe", "-v", "error", "-count_frames", "-show_entries", "stream=nb_read_frames", "-of", "csv=p=0",
         folder + "/outside.mp4"], check=True, capture_output=True, text=True)
    assert not decoded.stderr and int(decoded.stdout.strip().strip(",")) == report["frames"], decoded
    worker.say("goodbye", reason="drained")
    # It counts as one that left, not as one that was lost.
    until = time.time() + 10
    while not any(row["node"] == "outsider" and row["state"] == "left" for row in client.ask("query", subject="workers")):
        assert time.time() < until
    return len(rows), report["frames"]


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
                     settings={"encoder_options": {"preset": "ultrafast"}, "end": {"value": 12, "timescale": 1}},
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
        # A finished segment as the spool holds it: samples, their table, their format, and how long these are.
        file, header = client.segment(job, 0)
        samples, table, form, magic = struct.unpack("<QQQ8s", file[-32:])
        assert magic == b"WEFTWSF1" and samples + table + form + 32 == len(file)
        assert xxhash.xxh3_128_hexdigest(file[:-32]) == header["hash"]
        count = int.from_bytes(file[samples + 4:samples + 8], "little")
        times = [struct.unpack_from("<q", file, samples + 16 + 32 * number)[0] for number in range(count)]
        assert count == segments[0]["frames"] and all(header["start"] <= time < header["end"] for time in times)
        assert file[samples + table:].startswith(b"WFMT")
        assert client.segment(job, 99)["failure"]["exit_code"] == 64
        for other in (observer, wrong):
            assert other.segment(job, 0)["failure"]["exit_code"] == 77
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
        slot.kill()
        slot.wait()
        coordinator.send(pack("goodbye", reason="stopped"))
        segments, frames = outside(folder, address, keys, client)
        print(f"protocol: {segments} segments, {frames} frames encoded by an outside worker")
        print(f"protocol: {report['segments']} segments, {sum(len(v) for v in seen.values() if isinstance(v, list))} messages")
    finally:
        if slot:
            slot.kill()
        server.terminate()
        server.wait(10)


with tempfile.TemporaryDirectory() as folder:
    main(folder)
context.destroy(linger=0)
