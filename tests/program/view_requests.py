"""Requests of all sorts to a real viewer.    view_requests.py PROGRAM SCENE PAGE"""
import fcntl
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

program, scene, page = sys.argv[1:]
faults = []


def start():
    viewer = subprocess.Popen([program, "view", scene, "--page", page, "--set", "time.duration=5000", "--set", "output.fields=[]"],
                              stdout=subprocess.PIPE, text=True)
    found = re.match(r"http://127\.0\.0\.1:(\d+)/([0-9a-f]{32})/#run/1$", viewer.stdout.readline().strip())
    assert found, "the address is not printed"
    return viewer, int(found[1]), found[2]


viewer, port, token = start()
own = f"http://127.0.0.1:{port}"


def check(true, words):
    if not true:
        faults.append(words)


def ask(method, path, body=None, headers=None, host=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    all_headers = {"Host": host or f"127.0.0.1:{port}", **(headers or {})}
    connection.request(method, path, body, all_headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def post(path, body="{}", origin=own, type="application/json"):
    return ask("POST", f"/{token}/api/{path}", body, {"Origin": origin, "Content-Type": type})


def get(path):
    return ask("GET", f"/{token}/{path}")


def raw(data, whole=False):
    """The status of what is no proper request; 0: the connection was closed without an answer. `whole`: there is nothing that the
    server would wait for."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
            line.sendall(data)
            if not whole:
                line.shutdown(socket.SHUT_WR)
            answer = line.recv(65536)
    except ConnectionError:
        return 0
    return int(answer.split()[1]) if answer.startswith(b"HTTP/1.1 ") else 0


def answers_to(data):
    """All that comes until the connection is closed, or nothing comes for a while."""
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2) as line:
            line.sendall(data)
            while piece := line.recv(65536):
                answer += piece
    except (ConnectionError, TimeoutError):
        pass
    return answer


def until(what, words):
    for _ in range(600):
        if what():
            return
        time.sleep(0.05)
    faults.append(f"waited in vain: {words}")


def is_held(lock):
    with open(lock) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def state():
    return json.loads(get("api/run/1")[1])


# A run that has hardly begun takes a wish for a checkpoint.
check(post("run/1/checkpoint")[0] == 200, "no checkpoint of a run that begins")

# The run goes on, and all of it can be read.
until(lambda: state()["frames"] and state()["frames"][-1][1] >= 3, "three frames")
check(state()["state"] == "running" and state()["ours"], "the run is not said to go on")
check(get("")[1] == b"<html>\n", "the page is not served")
for what in ("topology", "frame/0", "frame/3"):
    check(get(f"api/run/1/{what}")[1][:7] == b"LOPEFRM", f"{what} is no frame")
check(get("api/run/1/stats?from=0")[1].startswith(b"{"), "no statistics")
check(b"duration = 5000" in get("api/run/1/scene")[1], "not the resolved scene")
until(lambda: get("api/run/1/live")[1].startswith(b'{"step":'), "the iterations of the current step")

# Nobody else reads it.
check(ask("GET", "/")[0] == 403, "no token")
check(ask("GET", f"/{'0' * 32}/api/runs")[0] == 403, "wrong token")
check(ask("GET", f"/{token}/api/runs", host="evil.example")[0] == 403, "foreign host")
check(ask("GET", f"/{token}/api/runs", headers={"Origin": "http://evil.example"})[0] == 403, "foreign origin")
for path in ("../bar.toml", "..%2fbar.toml", "%2e%2e/%2e%2e/etc/passwd", "api/run/1/../../../etc/passwd", "api/run/1/frame/..%2f..%2fscene.toml",
             "api/run/1/frame/0%00", "assets/..%5cindex.html", "//etc/passwd", "api/run/1/run.lock"):
    status, body = get(path)
    check(status in (403, 404) and b"root:" not in body, f"{path} gives {status}")

# What changes something comes from the page itself.
check(post("run/1/stop", origin="http://evil.example")[0] == 403, "foreign origin may stop")
check(ask("POST", f"/{token}/api/run/1/stop", "{}", {"Content-Type": "application/json"})[0] == 403, "no origin may stop")
check(post("run/1/stop", type="text/plain")[0] == 415, "a form may stop")
check(get("api/run/1/stop")[0] in (404, 405), "reading may stop")
check(ask("PUT", f"/{token}/api/run/1/stop", "{}", {"Origin": own})[0] in (400, 404, 405), "PUT")
check(state()["state"] == "running", "the run was stopped by one of these")

# Too much, and what is no request.
check(post("start", "x" * 1000000)[0] in (400, 413), "a large body is taken")
check(post("start", "{\"scene\":")[0] == 400, "half a JSON is taken")
check(get("a" * 20000)[0] in (400, 414), "a long address is taken")
check(raw(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc" + bytes(200)) in (0, 400), "TLS")
check(raw(b"GET\r\n\r\n") in (0, 400), "half a request")
check(raw(f"GET /{token}/ HTTP/1.1\r\n\r\n".encode(), whole=True) == 403, "no host")
check(raw(f"GET /{token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nHost: evil.example\r\n\r\n".encode(), whole=True) == 403, "two hosts")
check(raw(f"GET /{token}/ HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX: {'y' * 100000}\r\n\r\n".encode()) in (0, 400, 414, 431), "a large header")
check(raw(f"POST /{token}/api/start HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 99999999999999999999\r\n\r\n{{".encode())
      in (0, 400, 403, 413), "a length that is none")
for address in (f"/{token}/", "/"):
    for wanted in ("9-", "4096-8191", "0-4096", "6-5", "-9", "-99999999", "9223372036854775806-", "0-9223372036854775807",
                   "99999999999999999999-", "0-1,4096-8191", "x"):
        answer = answers_to(f"GET {address} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nRange: bytes={wanted}\r\nConnection: close\r\n\r\n".encode())
        check(len(answer) < 1500, f"{len(answer)} bytes for the range {wanted} of {address}")
check(get("api/runs")[0] == 200, "the viewer does not answer any more")

# Only this machine is listened to.
listeners = [line.split()[1] for line in open("/proc/net/tcp").read().splitlines()[1:] if line.split()[3] == "0A"]
check([address for address in listeners if address.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"], f"listens on {listeners}")

# Checkpoint, stop, go on, and the end with Ctrl-C.
check(post("run/1/checkpoint")[0] == 200, "no checkpoint")
until(lambda: b"checkpoint after step" in get("api/run/1/log")[1], "the checkpoint in the log")
check(post("run/1/stop")[0] == 200, "cannot be stopped")
until(lambda: state()["state"] == "ended", "the end of the run")
check(state()["exit"] == 130, f"ended with {state()['exit']}: {state()['message']}")
check(get("api/run/1/live")[1] == b"", "iterations of a run that is over")
before = state()["frames"][-1][1]
check(post("run/1/stop")[0] == 409, "stopped twice")
check(post("run/1/resume")[0] == 200, "cannot go on")
check(post("run/1/resume")[0] == 409, "goes on twice")
until(lambda: state()["frames"][-1][1] > before + 2, "frames after going on")
# A connection that is kept open is closed at the end, or answered as ever.
kept = [http.client.HTTPConnection("127.0.0.1", port, timeout=20) for _ in range(4)]
for connection in kept:
    connection.request("GET", f"/{token}/api/runs")
    connection.getresponse().read()
viewer.send_signal(signal.SIGINT)
time.sleep(0.4)
for connection in kept:
    try:
        connection.request("GET", f"/{token}/api/runs")
        answer = connection.getresponse()
        check(answer.status == 200 and json.loads(answer.read()), f"{answer.status} on a connection that was kept open")
    except (OSError, http.client.HTTPException):
        pass
check(viewer.wait(60) == 0, "does not end well")

# Runs end with it when Ctrl-C comes twice, too, while a connection is still kept open.
viewer, port, token = start()
until(lambda: state()["frames"], "a frame of the second viewer's run")
lock = os.path.join(state()["directory"], "run.lock")
kept = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
kept.request("GET", f"/{token}/api/runs")
kept.getresponse().read()
viewer.send_signal(signal.SIGINT)
time.sleep(0.4)
viewer.send_signal(signal.SIGINT)
viewer.wait(60)
until(lambda: not is_held(lock), "the end of a run that was left behind")
for fault in faults:
    print("FAILED:", fault, file=sys.stderr)
print("" if faults else "all requests answered as they should")
sys.exit(1 if faults else 0)
