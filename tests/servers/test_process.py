"""Servers end when they are stopped or killed, and with the test process."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from servers import health, process, process_tree
from servers.ports import FIRST, LAST, free_port
from servers.process import Server, ServerFailed
from servers.requirement import REQUIRED, need
from waits import PATIENCE, wait_until

pytest_plugins = ["servers.fixtures"]

TESTS = Path(__file__).parents[1]
STUBBORN = """
import http.server, os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:  # a helper that has left the session
    os.setsid()
    signal.pause()
print("at your service", flush=True)
http.server.test(http.server.SimpleHTTPRequestHandler, port=int(sys.argv[1]), bind=sys.argv[2])
"""


class StubbornServer(Server):
    """A server that ignores SIGTERM, with a child process in its own session."""

    name = "stubborn"
    durable = True
    stop_within = 0.2

    def command(self):
        return [sys.executable, "-c", STUBBORN, str(self.port), self.host]

    def ready(self):
        return health.serves(self.port, "/")


class BrokenServer(StubbornServer):
    name = "broken"

    def command(self):
        return [sys.executable, "-c", "print('what went wrong'); raise SystemExit(3)"]


class SilentServer(StubbornServer):
    name = "silent"
    ready_within = 0.3

    def command(self):
        return [sys.executable, "-c", "import time; time.sleep(3600)"]


class MissingServer(StubbornServer):
    name = "missing"
    installation = ("no such server here", "apt-get install it")

    @staticmethod
    def program():
        return None


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_nothing_of_a_server_is_left(end, own_server):
    server = own_server(StubbornServer)
    members = process_tree.family(server.pid)
    assert len(members) == 2
    getattr(server, end)()
    assert not server.running
    assert not any(map(process_tree.runs, members))
    assert not health.accepts(server.port)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (BrokenServer, "broken ended with 3; .*\n(what went wrong\n?)+"),
        (SilentServer, "silent did not answer within 0.3 s"),
    ],
)
def test_a_failed_start_reports_the_reason(kind, message, own_server, monkeypatch):
    monkeypatch.setattr(process, "ATTEMPTS", 2)
    with pytest.raises(ServerFailed, match=message):
        own_server(kind)


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_servers_die_with_the_tests(by, tmp_path):
    program = (
        f"import sys, time; sys.path.insert(0, {str(TESTS)!r})\n"
        "from servers.http_server import PlainHttpServer\n"
        "print(PlainHttpServer().start().pid, flush=True); time.sleep(3600)"
    )
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, env=environment
    ) as tests:
        pid = int(tests.stdout.readline())
        assert process_tree.runs(pid)
        tests.send_signal(by)
    assert process_tree.wait_for_end([pid], within=PATIENCE)
    wait_until(lambda: not list(tmp_path.iterdir()))


@pytest.mark.parametrize(
    ("asked", "outcome"), [({}, "skipped"), ({REQUIRED: "1"}, "failed"), ({"CI": "true"}, "failed")]
)
def test_a_missing_server_is_skipped_unless_it_is_required(asked, outcome, monkeypatch):
    for name in (REQUIRED, "CI"):
        monkeypatch.delenv(name, raising=False)
    for name, value in asked.items():
        monkeypatch.setenv(name, value)
    expected = pytest.skip.Exception if outcome == "skipped" else pytest.fail.Exception
    with pytest.raises(expected, match="no such server here"):
        need(MissingServer)
    need(StubbornServer)


def test_ports_are_free_and_not_among_those_for_clients():
    ports = [free_port(10_000) for _ in range(50)]
    assert all(FIRST <= port < LAST for port in ports)
    assert not any(map(health.accepts, ports))
    range_of_clients = Path("/proc/sys/net/ipv4/ip_local_port_range")
    if range_of_clients.exists():
        assert int(range_of_clients.read_text().split()[0]) > LAST + 10_000


killed = []


def test_a_shared_server_may_be_killed(redis_server):
    redis_server.kill()
    killed.append(redis_server)


def test_it_runs_again_before_the_next_test(redis_server):
    assert not killed or killed == [redis_server]
    assert redis_server.running
    assert redis_server.ready()
