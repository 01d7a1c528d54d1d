#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""Faults between `ship` and real ClickHouse servers.

Each round sends the same traces into an empty database while one thing goes wrong: a server, ship, the network or a
disk. Then the server has each row once, or the difference is reported: by ship, or by the ledger.

  faults.py PROGRAM ROUNDS [KIND]     D9_FLEET_SEED=N repeats a run; needs root for the rounds with full disks
"""
import glob
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FACTS = ("samples", "slices", "lost", "spans", "events", "waits_rollup", "offcpu_rollup", "cpu_rollup")
IN_A_ROW_MAX = 2  # faults of one batch
END_S = 250  # until ship has sent all
# A tenth of the default pause: a round is as many faults in less time.
RETRY = ("--retry", "100ms")
HOUR_NS, DAY_NS = 3600 * 10**9, 24 * 3600 * 10**9


# ---- servers --------------------------------------------------------------------------------------

def free_port():
    """Two neighbours below the range of outgoing connections: a client that waits for a server must not meet itself."""
    while True:
        port = random.SystemRandom().randrange(15000, 31000)
        try:
            for p in (port, port + 1):
                with socket.socket() as s:
                    s.bind(("127.0.0.1", p))
            return port
        except OSError:
            continue


class Server:
    def __init__(self, where):
        self.dir, self.port = where, free_port()
        os.makedirs(where, exist_ok=True)

    def script(self, *words):
        subprocess.run(["sh", TOP + "/tools/clickhouse.sh", *words], check=True)

    def start(self):
        self.script("start", self.dir, str(self.port))

    def kill(self):
        self.script("kill", self.dir)

    def sql(self, text):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", text.encode(), 60) as answer:
            return answer.read().decode().strip()

    def number(self, text):
        return int(self.sql(text) or 0)


# ---- a proxy that fails ---------------------------------------------------------------------------

class Proxy:
    """Each connection has one request. plan(table of the insert or "", number) gives what happens to it: {} is nothing.

    cut: the part of the request that reaches the server; late: seconds after which it does, without an answer; drop: no
    answer; partial: bytes of the answer; at: a stage (before, half, whole, answered), where do() is called.
    """

    def __init__(self, server, plan=lambda table, number: {}):
        self.server, self.plan, self.inserts = server, plan, 0
        self.lock, self.late = threading.Lock(), []
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                client = self.listener.accept()[0]
            except OSError:
                return
            threading.Thread(target=self.guard, args=(client,), daemon=True).start()

    def close(self):
        self.listener.close()
        for thread in self.late:
            thread.join()

    def guard(self, client):
        try:
            with client:
                self.handle(client)
        except OSError:
            pass

    @staticmethod
    def read_request(client):
        data = b""
        while b"\r\n\r\n" not in data:
            piece = client.recv(65536)
            if not piece:
                return None
            data += piece
        head, body = data.split(b"\r\n\r\n", 1)
        length = next((int(line.split(b":")[1]) for line in head.lower().split(b"\r\n")
                       if line.startswith(b"content-length:")), 0)
        if b"100-continue" in head.lower():
            client.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        while len(body) < length:
            piece = client.recv(65536)
            if not piece:
                return None
            body += piece
        lines = [line for line in head.split(b"\r\n") if not line.lower().startswith(b"expect:")]
        return b"\r\n".join(lines + [b"Connection: close"]) + b"\r\n\r\n", body

    def send(self, head, body, act):
        stage = act.get("at")
        if stage == "before":
            act["do"]()
        with socket.create_connection(("127.0.0.1", self.server.port), 60) as up:
            cut = int(len(body) * act.get("cut", 1))
            half = min(cut, len(body) // 2)
            up.sendall(head + body[:half])
            if stage == "half":
                act["do"]()
            up.sendall(body[half:cut])
            if cut < len(body):
                return b""
            if stage == "whole":
                act["do"]()
            answer = b""
            while piece := up.recv(65536):
                answer += piece
            return answer

    def send_late(self, head, body, seconds):
        time.sleep(seconds)
        try:
            self.send(head, body, {})
        except OSError:
            pass

    def handle(self, client):
        request = self.read_request(client)
        if not request:
            return
        line = urllib.parse.unquote(request[0].split(b"\r\n", 1)[0].decode())
        insert = line.split("`")[1] if "query=INSERT" in line else ""
        with self.lock:
            act = self.plan(insert, self.inserts)
            self.inserts += bool(insert)
        if "late" in act:
            thread = threading.Thread(target=self.send_late, args=(*request, act["late"]))
            self.late.append(thread)
            thread.start()
            return
        answer = self.send(*request, act)
        if act.get("at") == "answered":
            act["do"]()
        if not act.get("drop"):
            client.sendall(answer[:act.get("partial", len(answer))])


# ---- a round --------------------------------------------------------------------------------------

class Round:
    def __init__(self, fleet, seed):
        self.fleet, self.random = fleet, random.Random(seed)
        self.server, self.other = fleet.servers
        self.dir = tempfile.mkdtemp(dir=fleet.dir)
        self.log = ""
        self.codes = []
        self.proxy = None
        for server in fleet.servers:
            server.sql("DROP DATABASE IF EXISTS fleet")
            server.sql("CREATE DATABASE fleet")

    def fill(self, where=None):
        for name in self.fleet.traces:
            shutil.copy(name, where or self.dir)

    def ship(self, port=None, where=None, words=RETRY, env=None):
        """Starts ship: finish() waits for it."""
        return subprocess.Popen([self.fleet.program, "ship", where or self.dir, "--once", "--to",
                                 f"http://127.0.0.1:{port or self.server.port}/fleet", "--timeout", "60",
                                 "--events", *words],
                                stderr=subprocess.PIPE, text=True, env=env)

    def finish(self, process):
        try:
            self.log += process.communicate(timeout=END_S)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            raise AssertionError("ship does not end:\n" + self.log)
        self.codes.append(process.returncode)
        return process.returncode

    def through(self, plan, **more):
        self.proxy = Proxy(self.server, plan)
        return self.ship(self.proxy.port, **more)

    def run_through(self, plan, **more):
        self.fill()
        code = self.finish(self.through(plan, **more))
        assert code in (0, 4), f"status {code}\n{self.log}"

    def target(self):
        """Whether an insert is the one that fails: one of the samples and slices, or any other."""
        table = self.random.choice(FACTS[:2])
        if self.random.random() < 0.3:
            at = self.random.randrange(self.fleet.inserts)
            return lambda insert, n: insert and n == at
        hit = []
        return lambda insert, n: insert == table and not hit and not hit.append(n)

    # -- kinds: each sends all traces

    def server_killed_before(self):
        self.fill()
        self.server.kill()
        process = self.ship()
        time.sleep(self.random.random())
        self.server.start()
        assert self.finish(process) in (0, 4), self.log

    def server_killed(self):
        """In or after an insert, or between the answer and ship."""
        target, stage = self.target(), self.random.choice(["before", "half", "whole", "answered"])

        def crash():
            self.server.kill()
            threading.Thread(target=self.server.start).start()

        self.run_through(lambda insert, n: {"at": stage, "do": crash, "drop": True} if target(insert, n) else {})
        # the thread above may not have seen it yet
        while not os.path.exists(self.server.dir + "/pid"):
            time.sleep(0.05)

    def sometimes(self, act):
        """For many inserts of facts and a few others; of other statements fewer, since connecting takes 20 of them.

        Pauses double with each failure in a row, so their number has a limit."""
        share = 0.2 + self.random.random() * 0.5
        in_a_row = 0

        def plan(insert, n):
            nonlocal in_a_row
            hit = self.random.random() < (share if insert in FACTS else 0.05 if insert else 0.02)
            in_a_row = in_a_row + 1 if hit and in_a_row < IN_A_ROW_MAX else 0
            return act() if in_a_row else {}

        return plan

    def cut_requests(self):
        self.run_through(self.sometimes(lambda: {"cut": self.random.random()}))

    def lost_answers(self):
        self.run_through(self.sometimes(lambda: {"drop": True}))

    def partial_answers(self):
        self.run_through(self.sometimes(lambda: {"partial": self.random.randrange(60)}))

    def late_requests(self):
        """What a proxy may do, and no server without tokens can detect in time."""
        target = self.target()
        # with the default pause: what it protects from
        self.run_through(lambda insert, n: {"late": self.random.random() * 4} if target(insert, n) else {}, words=())

    def ship_killed(self):
        """At a stage of an insert, or at any moment; several times."""
        self.fill()
        for _ in range(self.random.randrange(1, 4)):
            target, stage = self.target(), self.random.choice(["before", "half", "whole", "answered", "time"])
            victim = []
            process = self.through(lambda insert, n: {
                "at": stage, "do": victim[0].kill} if target(insert, n) and victim else {})
            victim.append(process)
            if stage == "time":
                time.sleep(self.random.random())
                process.kill()
            if self.finish(process) == 0:
                break
            self.proxy.close()
        assert self.finish(self.ship()) in (0, 4), self.log

    def ship_disk_full(self):
        """Neither a state nor anything else can be written; answers get lost too."""
        small = self.fleet.mount(self.dir + "/small", sum(os.path.getsize(t) for t in self.fleet.traces) + (1 << 20))
        self.fill(small)
        rest = os.open(small + "/rest", os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(rest, b"x" * 4096)
        except OSError:
            os.close(rest)
        self.proxy = Proxy(self.server, self.sometimes(lambda: {"drop": True}))
        code = self.finish(self.ship(self.proxy.port, small))
        assert code in (0, 4), f"status {code}\n{self.log}"
        self.fleet.unmount(small)

    def server_disk_full(self):
        """Inserts fail, some in the middle; then there is room again."""
        where = self.fleet.mount(self.dir + "/data", 64 << 20)
        full = Server(where)
        full.start()
        try:
            full.sql("CREATE DATABASE fleet")
            # with an empty directory: 18.16 never recovers from a full disk while it creates a table
            assert self.finish(self.ship(full.port)) == 0, self.log
            rest = open(where + "/rest", "wb")
            left = os.statvfs(where).f_bavail * os.statvfs(where).f_frsize
            rest.write(b"x" * (left - self.random.randrange(4096, 40000)))
            rest.close()
            self.fill()
            process = self.ship(full.port)
            time.sleep(1 + self.random.random())
            os.unlink(where + "/rest")
            code = self.finish(process)
            assert "trying again" in self.log, "the disk was not full"
            assert code in (0, 4), f"status {code}\n{self.log}"
            self.compare(full)
        finally:
            full.kill()
            self.fleet.unmount(where)
        self.checked = True

    def shard_down(self):
        """The host of the other shard does not notice; the host of this one waits."""
        here, there = self.dir + "/here", self.dir + "/there"
        for where in (here, there):
            os.mkdir(where)
            self.fill(where)
        self.server.kill()
        waits = self.ship(where=here)
        assert self.finish(self.ship(self.other.port, there)) == 0, self.log
        self.compare(self.other)
        assert waits.poll() is None, "ship did not wait"
        self.server.start()
        assert self.finish(waits) in (0, 4), self.log

    def other_schemas(self):
        """A later version's columns stay empty, an older version's tables get ours, another type is refused."""
        self.fill()
        assert self.finish(self.ship()) == 0, self.log
        columns = self.server.sql("SELECT groupArray(name) FROM system.columns WHERE database = 'fleet'"
                                  " AND table = 'samples'")
        assert "'build'" in columns, columns
        for table in FACTS:
            self.server.sql(f"TRUNCATE TABLE fleet.{table}")
        self.server.sql("ALTER TABLE fleet.samples ADD COLUMN later String DEFAULT 'later'")
        self.server.sql("ALTER TABLE fleet.samples DROP COLUMN build")
        self.fill()
        os.unlink(self.dir + "/.dial9-ship")
        assert self.finish(self.ship()) == 0, self.log
        assert self.server.number("SELECT countIf(build != '') > 0 AND countIf(later != 'later') = 0"
                                  " FROM fleet.samples") == 1
        self.server.sql("ALTER TABLE fleet.slices MODIFY COLUMN dur String")
        refused = self.dir + "/refused"
        os.mkdir(refused)
        self.fill(refused)
        assert self.finish(self.ship(where=refused)) == 3, self.log
        assert " refuses: " in self.log, self.log
        assert any(name.endswith(".bin") for name in os.listdir(refused)), "the file is gone"
        self.server.sql("DROP TABLE fleet.slices")
        for table in FACTS:
            if table != "slices":
                self.server.sql(f"TRUNCATE TABLE fleet.{table}")
        shutil.rmtree(refused)
        self.fill()
        os.unlink(self.dir + "/.dial9-ship")
        assert self.finish(self.ship()) == 0, self.log

    def record_ship(self):
        """A recorder that ships: the server is down at the start or in the middle, or the recorder is killed."""
        how = self.random.choice(["start", "middle", "killed"])
        spool = self.dir + "/spool"
        if how == "start":
            self.server.kill()
        command = [self.fleet.program, "record", "-q", "--ship", f"http://127.0.0.1:{self.server.port}/fleet",
                   "--switch-output=500ms", "-o", spool + "/t.bin", "--", "sh", "-c",
                   "for i in 1 2 3 4 5 6 7 8 9 10; do date; sleep 0.3; done"]
        recorder = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        time.sleep(1 + self.random.random())
        if how == "start":
            # it ends while the server is down
            code = self.finish(recorder)
            assert code == 3 and f"ship {spool} --to " in self.log, f"status {code}\n{self.log}"
            self.server.start()
        elif how == "middle":
            self.server.kill()
            time.sleep(self.random.random())
            self.server.start()
            code = self.finish(recorder)
            assert code == 0 and not glob.glob(spool + "/*.bin*"), f"status {code}\n{self.log}"
        else:
            recorder.kill()
            # ship has its standard error, and ends by itself
            assert self.finish(recorder) == -9, self.log
            assert not glob.glob(spool + "/*.bin"), self.log
        assert self.finish(self.ship(where=spool)) == 0, self.log
        self.compare_sent()
        self.checked = True

    def clock_steps(self):
        """The wall clock goes back and forth during a recording, between its files, and while they are sent."""
        spool, step = self.dir + "/spool", self.dir + "/step"
        os.mkdir(spool)
        steps = [0]

        def set_step():
            steps.append(self.random.choice([-2 * DAY_NS, -HOUR_NS, -10**9, 10**9, HOUR_NS, 2 * DAY_NS, 0]))
            with open(step, "r+b" if os.path.exists(step) else "wb") as f:
                f.write(steps[-1].to_bytes(8, "little", signed=True))

        set_step()
        env = dict(os.environ, LD_PRELOAD=self.fleet.clock_step, D9_CLOCK_STEP=step)
        live = self.random.random() < 0.3
        began = time.time_ns()
        recorder = subprocess.Popen(
            [self.fleet.program, "record", "-q", "--switch-output=300ms", "-o", spool + "/t.bin",
             *(["--ship", f"http://127.0.0.1:{self.server.port}/fleet"] if live else []), "--", "sh", "-c",
             "for i in 1 2 3 4 5 6 7 8 9 10; do date; sleep 0.2; done"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env=env)
        while recorder.poll() is None:
            time.sleep(self.random.random() / 3)
            set_step()
        assert self.finish(recorder) == 0, self.log
        ended = time.time_ns()
        files = glob.glob(spool + "/*.bin")
        assert live or len(files) > 2, files
        rows = {table: sum(self.fleet.query(f"SELECT count(*) FROM {table}{where}", name) for name in files)
                for table, where in (("samples", " WHERE source <> 'switch'"), ("slices", ""), ("lost", ""))}
        for name in files:
            stat = os.stat(name)
            os.utime(name, ns=(stat.st_atime_ns, stat.st_mtime_ns + self.random.choice(steps)))
        stop = threading.Event()

        def keep_stepping():
            while not stop.wait(self.random.random() / 3):
                set_step()

        stepper = threading.Thread(target=keep_stepping)
        stepper.start()
        code = self.finish(self.through(self.sometimes(lambda: {"drop": True}), where=spool, env=env))
        stop.set()
        stepper.join()
        assert code in (0, 4), f"status {code}\n{self.log}"
        assert not glob.glob(spool + "/*.bin*"), self.log
        extra = sum(self.server.number(f"SELECT count() FROM fleet.{table}") - rows[table] for table in rows)
        if code == 0:
            assert live or extra == 0, f"{extra} rows\n{self.log}"
            self.compare_sent()
        else:
            assert extra > 0 and " doubled row" in self.log, f"{extra} rows\n{self.log}"
        first, last = began + min(steps) - 10**9, ended + max(steps) + 10**9
        for table in ("samples", "slices", "waits_rollup", "offcpu_rollup", "cpu_rollup"):
            wrong = self.server.number(f"SELECT count() FROM fleet.{table} WHERE wall + 10000000000 < {first} OR wall > {last}"
                                       f" OR day != toDate(intDiv(wall, {DAY_NS}))")
            assert wrong == 0, f"{wrong} rows of {table} have other times\n{self.log}"
        self.checked = True

    # -- afterwards

    def compare_sent(self):
        """The rows that ship sent, by the ledger, are there once."""
        sent, seen = (self.server.number(f"SELECT sum({n}) FROM (SELECT batch, any({n}) AS {n} FROM fleet.ledger"
                                         " GROUP BY batch)") for n in ("rows", "rows_seen"))
        there = sum(self.server.number(f"SELECT count() FROM fleet.{t}") for t in FACTS)
        assert sent == seen == there > 0, f"sent {sent}, seen {seen}, there {there}\n{self.log}"

    def compare(self, server):
        """The difference of rows: 0, or what ship or the ledger report."""
        extra = 0
        for table in FACTS:
            rows = server.number(f"SELECT count() FROM fleet.{table}")
            missing = self.fleet.rows[table] - rows
            assert missing <= 0, f"{missing} of {self.fleet.rows[table]} rows of {table} are missing\n{self.log}"
            extra -= missing
        ledger = server.number("""
            SELECT sum(toInt64(there) - toInt64(sent)) FROM (
                SELECT batch, any(rows) AS sent FROM fleet.ledger GROUP BY batch)
            ANY LEFT JOIN (SELECT batch, sum(n) AS there FROM (%s) GROUP BY batch) USING batch""" % " UNION ALL ".join(
                f"SELECT batch, count() AS n FROM fleet.{t} GROUP BY batch" for t in FACTS))
        assert ledger == extra, f"{extra} doubled rows, the ledger shows {ledger}\n{self.log}"
        told = " doubled row" in self.log or " rows of batch " in self.log
        for table, key in (("stacks", "stack"), ("frames", "frame, depth"), ("tasks", "trace_file, pid, tid, comm")):
            rows = server.number(f"SELECT uniqExact({key}) FROM fleet.{table}")
            assert rows == self.fleet.rows[table], f"{rows} of {self.fleet.rows[table]} rows of {table}\n{self.log}"
        return extra, told

    def run(self, kind):
        self.checked = False
        try:
            getattr(self, kind)()
            if self.proxy:
                self.proxy.close()
            result = (0, True) if self.checked else self.compare(self.server)
            left = glob.glob(self.dir + "/*.bin")
            assert not left, f"files are left: {left}\n{self.log}"
            return result
        finally:
            shutil.rmtree(self.dir, ignore_errors=True)


# ---- all rounds -----------------------------------------------------------------------------------

class Fleet:
    kinds = ["server_killed", "ship_killed", "lost_answers", "other_schemas", "server_disk_full", "cut_requests",
             "shard_down", "record_ship", "ship_disk_full", "server_killed_before", "late_requests", "partial_answers",
             "clock_steps"]
    need_root = ("ship_disk_full", "server_disk_full", "record_ship", "clock_steps")

    def __init__(self, program):
        self.program, self.mounts = os.path.abspath(program), []
        self.clock_step = os.path.join(os.path.dirname(self.program), "tests/fleet/clock_step.so")
        self.dir = tempfile.mkdtemp(prefix="dial9-fleet-")
        self.servers = [Server(f"{self.dir}/{name}") for name in ("one", "two")]

    def mount(self, where, size):
        os.makedirs(where)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", where], check=True)
        self.mounts.append(where)
        return where

    def unmount(self, where):
        subprocess.run(["umount", "-l", where], check=True)
        self.mounts.remove(where)

    def query(self, sql, trace):
        out = subprocess.run([self.program, "query", "--format", "csv", sql, trace], check=True, capture_output=True,
                             text=True).stdout
        return int(out.split()[-1])

    def prepare(self):
        """Traces, and what a server has of them without faults; samples, slices and losses as `query` counts them."""
        source = os.environ.get("D9_FLEET_TRACES")
        where = self.dir + "/traces"
        os.mkdir(where)
        if source:
            self.traces = sorted(os.path.join(source, n) for n in os.listdir(source) if n.endswith(".bin"))
        else:
            subprocess.run([self.program, "record", "-q", "-o", where + "/t.bin", "--switch-output=10s", "--", "sh",
                            "-c", "for i in $(seq 40); do date; cat /proc/stat; done | gzip; kill -USR2 $PPID; sleep 0.3; date"],
                           check=True, stdout=subprocess.DEVNULL)
            self.traces = sorted(os.path.join(where, n) for n in os.listdir(where))
        for server in self.servers:
            server.start()
        self.rows = {}
        for table, sql in (("samples", "samples WHERE source <> 'switch'"), ("slices", "slices"),
                           ("lost", "lost")):
            self.rows[table] = sum(self.query(f"SELECT count(*) FROM {sql}", t) for t in self.traces)
        clean = Round(self, 0)
        clean.fill()
        proxy = Proxy(clean.server)
        assert clean.finish(clean.ship(proxy.port)) == 0, clean.log
        self.inserts = proxy.inserts
        for table in FACTS:
            rows = clean.server.number(f"SELECT count() FROM fleet.{table}")
            assert self.rows.setdefault(table, rows) == rows, f"{rows} of {self.rows[table]} rows of {table}"
        for table, key in (("stacks", "stack"), ("frames", "frame, depth"), ("tasks", "trace_file, pid, tid, comm")):
            self.rows[table] = clean.server.number(f"SELECT uniqExact({key}) FROM fleet.{table}")
        assert clean.compare(clean.server)[0] == 0, clean.log
        shutil.rmtree(clean.dir)

    def finish(self):
        for server in self.servers:
            server.kill()
        for where in list(self.mounts):
            self.unmount(where)
        shutil.rmtree(self.dir, ignore_errors=True)

    def run(self, rounds, only):
        seed = int(os.environ.get("D9_FLEET_SEED", random.SystemRandom().randrange(1 << 30)))
        kinds = [k for k in ([only] if only else self.kinds) if os.geteuid() == 0 or k not in self.need_root]
        doubled = dict.fromkeys(kinds, 0)
        counts = dict.fromkeys(kinds, 0)
        for i in range(rounds):
            # a short run takes other kinds each time
            kind, began = kinds[(i + seed) % len(kinds)], time.time()
            try:
                extra, told = Round(self, seed + i).run(kind)
            except Exception:
                print(f"fleet: {kind} failed; repeat with D9_FLEET_SEED={seed + i} ... 1 {kind}", file=sys.stderr)
                raise
            counts[kind] += 1
            if os.environ.get("V") == "1":
                print(f"fleet: {kind}: {time.time() - began:.1f} s, {extra} doubled rows", flush=True)
            doubled[kind] += extra > 0
            if extra and not told:
                print(f"fleet: {kind}: {extra} doubled rows arrived after ship had counted; the ledger shows them")
        for kind in kinds:
            if counts[kind]:
                print(f"fleet: {kind}: {counts[kind]} rounds, {doubled[kind]} with doubled rows, all reported")


def main():
    program, rounds = sys.argv[1], int(sys.argv[2])
    if not shutil.which("clickhouse-server", path=os.environ["PATH"] + ":/usr/sbin"):
        print("fleet: skipped: no clickhouse-server")
        return 1 if os.environ.get("D9_REQUIRE_CLICKHOUSE") == "1" else 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    fleet = Fleet(program)
    began = time.time()
    try:
        fleet.prepare()
        fleet.run(rounds, sys.argv[3] if len(sys.argv) > 3 else None)
    finally:
        fleet.finish()
    print(f"fleet: {rounds} rounds passed in {time.time() - began:.0f} s: {fleet.rows['slices']} slices,"
          f" {fleet.rows['samples']} samples, {fleet.inserts} inserts each")
    return 0


sys.exit(main())
