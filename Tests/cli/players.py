"""A page that plays a film in a browser nobody here wrote, and reports: players.py CHROMIUM FILE MIME JOIN...

Serves the file over the loopback interface, with ranges, and has headless Chromium load it, seek to every join and play the end.
What the page finds comes back as a request; nothing is measured by time.
"""

import http.server
import json
import os
import subprocess
import sys
import tempfile
import threading

PAGE = """<!DOCTYPE html><video id=v muted preload=auto></video><script>
const joins = JOINS, told = [], v = document.getElementById('v');
function tell(state) { fetch('/told', {method: 'POST', body: JSON.stringify({state: state, told: told,
    error: v.error ? v.error.code + ' ' + v.error.message : null, duration: v.duration, width: v.videoWidth})}); }
function once(name) { return new Promise((done, fail) => { v.addEventListener(name, done, {once: true});
    v.addEventListener('error', fail, {once: true}); }); }
async function run() {
    const loaded = once('loadedmetadata'); v.src = '/film'; await loaded; told.push('loadedmetadata');
    for (const join of joins) { const seeked = once('seeked'); v.currentTime = join; await seeked;
        const canvas = document.createElement('canvas'); canvas.width = 16; canvas.height = 16;
        canvas.getContext('2d').drawImage(v, 0, 0, 16, 16); told.push('seeked ' + v.currentTime.toFixed(3)); }
    const seeked = once('seeked'); v.currentTime = Math.max(0, v.duration - 1.5); await seeked;
    const ended = once('ended'); await v.play(); await ended; told.push('ended'); tell('done'); }
run().catch(e => tell('failed: ' + e));
</script>"""


def serve(path, mime, joins):
    size, answer, done = os.path.getsize(path), {}, threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def send(self, status, kind, body, headers=()):
            self.send_response(status)
            for name, value in [("Content-Type", kind), ("Content-Length", str(len(body))), *headers]:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if self.path == "/":
                return self.send(200, "text/html", PAGE.replace("JOINS", json.dumps(joins)).encode())
            if self.path != "/film":
                return self.send(404, "text/plain", b"")
            first, last = 0, size - 1
            wanted = self.headers.get("Range", "").removeprefix("bytes=").split("-")
            if len(wanted) == 2 and wanted[0].isdigit():
                first, last = int(wanted[0]), min(last, int(wanted[1] or last))
            with open(path, "rb") as film:
                film.seek(first)
                body = film.read(last - first + 1)
            try:
                self.send(206, mime, body, [("Accept-Ranges", "bytes"), ("Content-Range", f"bytes {first}-{last}/{size}")])
            except (BrokenPipeError, ConnectionResetError):
                pass

        def do_POST(self):
            answer.update(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.send(204, "text/plain", b"")
            done.set()

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, answer, done


def main():
    chromium, path, mime, *joins = sys.argv[1:]
    server, answer, done = serve(path, mime, [float(join) for join in joins])
    with tempfile.TemporaryDirectory() as profile:
        browser = subprocess.Popen(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--mute-audio", "--autoplay-policy=no-user-gesture-required",
             "--remote-debugging-port=0", f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_address[1]}/"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            done.wait(90)
        finally:
            browser.terminate()
            try:
                browser.wait(10)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()
            server.shutdown()
    seeks = sum(1 for word in answer.get("told", []) if word.startswith("seeked"))
    good = answer.get("state") == "done" and seeks == len(joins)
    print(f"{'plays' if good else 'does not play'}: {os.path.basename(path)}: {json.dumps(answer)}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
