"""Checks that the alerts tell errors of clients from errors of the server, in every protocol.

The check causes each error at a running server, and reads the code under which the server counts
it. It then lets promtool evaluate the alerts with these codes.
"""

import json
import re
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

from files import require
from monitoring import RULES, promtool
from server import METRICS_TOKEN, TIMEOUT, TOKEN, running

WRONG = "00000000000000000000000000000000"
# The message of a call of flakeid.v1.Ids/Next for the namespace `default`.
MESSAGE = b"\n\x07default"
COUNTED = re.compile(
    r'^flakeid_requests_total{operation="(\w+)",code="(\w+)"} (\d+)$', re.MULTILINE
)

# The status, error or gRPC status that the client sees, and the code in the metrics.
UNAUTHORIZED, FORBIDDEN = "HTTP_UNAUTHORIZED", "HTTP_FORBIDDEN"
LIMITED, WRONG_REQUEST = "HTTP_TOO_MANY_REQUESTS", "HTTP_BAD_REQUEST"


def redis(port: int, commands: str) -> str:
    """Return the last reply to commands of a Redis client."""
    with socket.create_connection(("127.0.0.1", port), TIMEOUT) as connection:
        connection.sendall(f"{commands}\r\n".encode())
        connection.shutdown(socket.SHUT_WR)
        replies = b""
        while received := connection.recv(4096):
            replies += received
    return replies.decode().splitlines()[-1].removeprefix("-").split(" ")[0]


def grpc(port: int, token: str, message: bytes = MESSAGE) -> str:
    """Return the status of a gRPC call, which curl sends as plain HTTP/2."""
    headers = ["content-type: application/grpc", "te: trailers"]
    headers += [f"authorization: Bearer {token}"] if token else []
    options = [option for header in headers for option in ("-H", header)]
    url = f"http://127.0.0.1:{port}/flakeid.v1.Ids/Next"
    called = subprocess.run(
        ["curl", "-sSi", "--http2-prior-knowledge", "--data-binary", "@-", *options, url],
        input=b"\0" + len(message).to_bytes(4, "big") + message,
        capture_output=True,
        check=True,
        timeout=TIMEOUT,
    )
    found = re.search(rb"^grpc-status: (\d+)", called.stdout, re.MULTILINE)
    require(found, f"the call has no status: {called.stdout}")
    return found.group(1).decode()


def cases(http: Callable[..., tuple[int, str]], resp: int, calls: int) -> dict[str, tuple]:
    """Return each error of a client: how to cause it, what the client sees, and the code."""
    ids, auth = "/v1/default/ids", f"AUTH {TOKEN}\r\n"
    other = f"AUTH {METRICS_TOKEN}\r\n"

    def status(*arguments: str) -> str:
        return str(http("POST", *arguments)[0])

    return {
        "HTTP, no token": (lambda: status(ids), "401", UNAUTHORIZED),
        "HTTP, wrong token": (lambda: status(ids, WRONG), "401", UNAUTHORIZED),
        "HTTP, other scope": (lambda: status(ids, METRICS_TOKEN), "403", FORBIDDEN),
        "HTTP, wrong count": (
            lambda: status(f"{ids}?count=x", TOKEN),
            "400",
            "FLAKEID_INVALID_OPTION",
        ),
        "HTTP, over the limit": (lambda: status(ids, TOKEN), "429", LIMITED),
        "RESP, NOAUTH": (lambda: redis(resp, "INCR default"), "NOAUTH", UNAUTHORIZED),
        "RESP, WRONGPASS": (lambda: redis(resp, f"AUTH {WRONG}"), "WRONGPASS", UNAUTHORIZED),
        "RESP, NOPERM": (lambda: redis(resp, f"{other}INCR default"), "NOPERM", FORBIDDEN),
        "RESP, ERR": (lambda: redis(resp, f"{auth}INCR"), "ERR", WRONG_REQUEST),
        "RESP, TRYAGAIN": (lambda: redis(resp, f"{auth}INCR default"), "TRYAGAIN", LIMITED),
        "gRPC, UNAUTHENTICATED, no token": (lambda: grpc(calls, ""), "16", UNAUTHORIZED),
        "gRPC, UNAUTHENTICATED, wrong token": (lambda: grpc(calls, WRONG), "16", UNAUTHORIZED),
        "gRPC, PERMISSION_DENIED": (lambda: grpc(calls, METRICS_TOKEN), "7", FORBIDDEN),
        "gRPC, INVALID_ARGUMENT": (
            lambda: grpc(calls, TOKEN, MESSAGE + b"\x10\0"),
            "3",
            "FLAKEID_FIELD_OUT_OF_RANGE",
        ),
        "gRPC, NOT_FOUND": (lambda: grpc(calls, TOKEN, b"\n\x01x"), "5", "HTTP_NOT_FOUND"),
        "gRPC, RESOURCE_EXHAUSTED": (lambda: grpc(calls, TOKEN), "8", LIMITED),
    }


def alert_test(name: str, operation: str, code: str) -> dict[str, object]:
    """Return a test of promtool: many errors of one kind beside few successful requests."""
    series = 'flakeid_requests_total{job="flakeid-serve", operation="%s", code="%s"}'
    alerts = []
    if code == UNAUTHORIZED:
        alerts.append(
            {
                "exp_labels": {"severity": "warning", "job": "flakeid-serve"},
                "exp_annotations": {
                    "summary": "2 requests per second have no valid token",
                    "description": "A client uses an old token, or an attacker guesses tokens.",
                },
            }
        )
    return {
        "name": name,
        "interval": "15s",
        "input_series": [
            {"series": series % ("ids", "OK"), "values": "0+1x60"},
            {"series": series % (operation, code), "values": "0+30x60"},
        ],
        "alert_rule_test": [
            {"eval_time": "14m", "alertname": "FlakeidServeErrors", "exp_alerts": []},
            {"eval_time": "14m", "alertname": "FlakeidServeUnauthorized", "exp_alerts": alerts},
        ],
    }


def check(flakeid: Path, folder: Path) -> None:
    """Cause every error, and evaluate the alerts with the codes of the server's metrics."""
    tokens = folder / "codes.tokens"
    tokens.write_text(f"web ids {TOKEN}\nprometheus metrics {METRICS_TOKEN}\n")
    arguments = ["serve", "--listen=127.0.0.1:0", "--resp=127.0.0.1:0", "--grpc=127.0.0.1:0"]
    arguments += [f"--token-file={tokens}", "--rate-limit=1"]
    tests = []
    with running(flakeid, arguments, f"sqlite://{folder}/codes.db", folder) as server:
        resp, calls = server.others

        def counted() -> dict[tuple[str, str], int]:
            text = server.request("GET", "/metrics", METRICS_TOKEN)[1]
            return {(operation, code): int(n) for operation, code, n in COUNTED.findall(text)}

        # This request uses up the client's limit for minutes.
        require(server.request("POST", "/v1/default/ids?count=999", TOKEN)[0] == 200, "no IDs")
        for name, (cause, sees, code) in cases(server.request, resp, calls).items():
            before, seen, after = counted(), cause(), counted()
            require(seen == sees, f"{name}: the client sees {seen} instead of {sees}")
            errors = [
                key
                for key, number in after.items()
                if number > before.get(key, 0) and key[1] != "OK"
            ]
            require(len(errors) == 1, f"{name}: the server counts {errors}")
            operation, found = errors[0]
            require(found == code, f"{name}: the server counts {found} instead of {code}")
            tests.append(alert_test(name, operation, code))
    generated = folder / "codes.test.json"
    generated.write_text(
        json.dumps({"rule_files": [str(RULES)], "evaluation_interval": "15s", "tests": tests})
    )
    promtool("test", "rules", str(generated))
