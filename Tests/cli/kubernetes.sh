#!/usr/bin/env bash
# The manifests are what Kubernetes takes, the options in them are what weft takes, and the scaler's script sets the number of
# workers from a real coordinator's backlog. The API server is a stand-in here: one sub-resource over HTTPS, with a certificate of
# its own authority, as a pod finds it.
# Usage: Tests/cli/kubernetes.sh PATH-OF-WEFT
set -euo pipefail
weft=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=Tests/cli/processes.bash
source "$here/Tests/cli/processes.bash"

# -- Schemas. The validator carries them; it is kept between runs.
tools=$here/.build/kubernetes-validate
if [ ! -x "$tools/bin/kubernetes-validate" ]; then
    rm -rf "$tools"
    { python3 -m venv "$tools" && "$tools/bin/pip" --quiet --disable-pip-version-check install 'kubernetes-validate>=1.31'; } \
        >"$folder/pip.log" 2>&1 || rm -rf "$tools"
fi
if [ -x "$tools/bin/kubernetes-validate" ]; then
    "$tools/bin/kubernetes-validate" --strict "$here"/Deploy/kubernetes/*.yaml >"$folder/schemas.log" 2>&1 || fail "a manifest is not valid"
    echo "kubernetes: $(grep -c passed "$folder/schemas.log") resources are valid"
    # A validator that takes everything would prove nothing.
    sed 's/terminationGracePeriodSeconds: 330/terminationGraceSeconds: 330/' "$here/Deploy/kubernetes/2-workers.yaml" >"$folder/wrong.yaml"
    ! "$tools/bin/kubernetes-validate" --strict "$folder/wrong.yaml" >/dev/null 2>&1 || fail "the validator takes a field that does not exist"
else
    echo "skipped: kubernetes-validate could not be installed from PyPI"
fi

# -- Options
for option in $(grep -ohE '^ +- --[a-z-]+' "$here"/Deploy/kubernetes/1-*.yaml | grep -oE -- '--[a-z-]+' | sort -u); do
    "$weft" coordinator --help | grep -q -- "$option" || fail "weft coordinator has no $option"
done
for option in $(grep -ohE '^ +- --[a-z-]+' "$here"/Deploy/kubernetes/2-*.yaml | grep -oE -- '--[a-z-]+' | sort -u); do
    "$weft" worker --help | grep -q -- "$option" || fail "weft worker has no $option"
done

# -- The scaler's script
for program in jq curl ffmpeg openssl; do
    command -v "$program" >/dev/null || { echo "skipped: there is no $program to try the scaler with"; exit 0; }
done
python3 - "$here/Deploy/kubernetes/3-scaler.yaml" >"$folder/scale.sh" <<'END'
import sys
text = open(sys.argv[1]).read().split("  scale.sh: |\n", 1)[1].split("\n---\n", 1)[0]
print("\n".join(line[4:] for line in text.split("\n")))
END
cat >"$folder/api.py" <<'END'
import http.server, json, ssl, sys
replicas = 0
class Scale(http.server.BaseHTTPRequestHandler):
    def answer(self):
        assert self.path == "/apis/apps/v1/namespaces/weft/deployments/weft-worker/scale", self.path
        assert self.headers["Authorization"] == "Bearer token", self.headers
        body = json.dumps({"kind": "Scale", "apiVersion": "autoscaling/v1", "spec": {"replicas": replicas} if replicas else {}}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    do_GET = answer
    def do_PATCH(self):
        global replicas
        assert self.headers["Content-Type"] == "application/merge-patch+json"
        replicas = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["spec"]["replicas"]
        print("replicas", replicas, flush=True)
        self.answer()
    def log_message(self, *words): pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Scale)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + "/api.crt", sys.argv[1] + "/api.key")
server.socket = context.wrap_socket(server.socket, server_side=True)
print("port", server.server_port, flush=True)
server.serve_forever()
END
export XDG_STATE_HOME=$folder/state XDG_CONFIG_HOME=$folder/config
mkdir "$folder/account" "$folder/bin"
printf token >"$folder/account/token"
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=stand-in -addext subjectAltName=IP:127.0.0.1 \
    -keyout "$folder/api.key" -out "$folder/api.crt" 2>"$folder/openssl.log"
cp "$folder/api.crt" "$folder/account/ca.crt"
ln -s "$weft" "$folder/bin/weft"
python3 "$folder/api.py" "$folder" >"$folder/api.log" 2>"$folder/api.err.log" &
started+=($!)
"$weft" coordinator --listen tcp://127.0.0.1:0 2>"$folder/coordinator.log" &
started+=($!)
awaits 10 "the coordinator listens" grep -q 'listening at' "$folder/coordinator.log"
awaits 10 "the stand-in listens" grep -q port "$folder/api.log"
WEFT_COORDINATOR=$(sed -n 's/.*listening at \(tcp:[^ ]*\).*/\1/p' "$folder/coordinator.log")
export WEFT_COORDINATOR
PATH=$folder/bin:$PATH API=https://127.0.0.1:$(sed -n 's/port //p' "$folder/api.log") ACCOUNT=$folder/account \
    MIN=0 MAX=3 SLOTS=4 INTERVAL=0.3 DOWN=2 sh "$folder/scale.sh" >"$folder/scale.log" 2>&1 &
scaler=$!
started+=("$scaler")
ffmpeg -nostdin -v error -f lavfi -i testsrc2=size=320x180:rate=25 -t 20 -c:v libx264 -preset ultrafast -g 50 "$folder/clip.mp4"
job=$("$weft" submit "$folder/clip.mp4" "$folder/out.mp4" --segment-duration 2 --json | jq -r .job)
# 10 segments on workers of 4 slots each.
awaits 15 "three workers are asked for" grep -qx 'replicas 3' "$folder/api.log"
"$weft" cancel "$job" 2>/dev/null
awaits 15 "no worker is asked for" grep -qx 'replicas 0' "$folder/api.log"
# A server that the account's authority does not know gets no token.
: >"$folder/account/ca.crt"
awaits 15 "an unknown certificate is refused" grep -q 'no answer; the workers stay as they are' "$folder/scale.log"
kill -TERM "$scaler"
wait "$scaler" || fail "the scaler did not end on SIGTERM"
echo "kubernetes: the scaler asked for $(grep -c replicas "$folder/api.log") sizes: $(sed -n 's/replicas //p' "$folder/api.log" | tr '\n' ' ')"
