#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""
Checks the pairs of neighbouring user frames in a trace against the code of the files: reads
`dial9-prof script --json`, prints the number of pairs and of pairs that no call can explain.

A call instruction must stand before the return address. If it has a fixed target, this target must
lead to the function of the callee: directly, through a stub of the procedure linkage table, or by
jumps at the end of functions (tail calls, cold parts). Indirect calls and jumps can lead anywhere.
Generated code and the vDSO have no file: their pairs are not checked.

pairs.py [-v] [NAME] < JSON    -v: also the impossible pairs and the ends of incomplete stacks, most frequent first
"""
import bisect
import collections
import json
import os
import re
import struct
import subprocess
import sys

SIGRETURN = (b'\x48\xc7\xc0\x0f\x00\x00\x00\x0f\x05', b'\xb8\x0f\x00\x00\x00\x0f\x05')
# Goroutines start as if this code had called their function: nop; call goexit1; nop
GOEXIT = re.compile(rb'\x90\xe8....\x90', re.DOTALL)
# The runtime of Go makes interrupted code call these, at any instruction.
INJECTED = re.compile(r'runtime\.(asyncPreempt|sigpanic|sigpanic0|debugCallV\d)(\.abi0)?$')
UNKNOWN_FUNCTION_MAX = 1 << 16
JUMPS_MAX = 6


class Module:
    """The code of an ELF file, by virtual address."""

    def __init__(self, path):
        self.path = path
        with open(path, 'rb') as f:
            self.data = f.read()
        if self.data[:5] != b'\x7fELF\x02':
            raise ValueError(path)
        self.segs = [s for s in self._headers(32, 54, 'IIQQQQQQ') if s[0] == 1]
        self.sections = self._read_sections()
        self.by_name = collections.defaultdict(list)  # name -> addresses
        self.named = {}
        self.resolved = set()  # names of functions that are chosen at run time
        self.slots = {}  # address of a pointer in memory -> name of its function
        self.extents = {}  # function with an FDE -> its end
        starts = set(self._frames())
        self.go_starts = set(self._go_functions())
        starts |= self.go_starts
        for kind in ('.symtab', '.dynsym'):
            starts |= set(self._symbols(kind))
        for kind in ('.rela.plt', '.rela.dyn'):
            self._relocations(kind)
        self.starts = sorted(starts)
        self.jumped = {}

    def _headers(self, off_at, size_at, form):
        off, = struct.unpack_from('<Q', self.data, off_at)
        size, cnt = struct.unpack_from('<HH', self.data, size_at)
        return [struct.unpack_from('<' + form, self.data, off + i * size) for i in range(cnt)]

    def _read_sections(self):
        heads = self._headers(40, 58, 'IIQQQQIIQQ')
        names, = struct.unpack_from('<H', self.data, 62)
        out = {}
        for h in heads:
            at = heads[names][4] + h[0]
            out[self.data[at:self.data.index(b'\0', at)].decode()] = h
        self.heads = heads
        return out

    def _string(self, table, off):
        at = self.heads[table][4] + off
        return self.data[at:self.data.index(b'\0', at)].decode(errors='replace')

    def _symbols(self, kind):
        h = self.sections.get(kind)
        if not h or h[1] == 8:
            return
        for i in range(h[5] // 24):
            name, info, _, shndx, value, _ = struct.unpack_from('<IBBHQQ', self.data, h[4] + 24 * i)
            typ = info & 15
            if typ not in (0, 2, 10) or not shndx or shndx >= 0xff00 or not value:
                continue
            if not self.heads[shndx][2] & 4:
                continue
            text = self._string(h[6], name)
            if typ == 0 and (text.startswith('.') or text.startswith('runtime.text')):
                continue
            self.by_name[text.split('@')[0]].append(value)
            self.named[value] = text
            if typ == 10:
                self.resolved.add(text.split('@')[0])
            yield value

    def _relocations(self, kind):
        h = self.sections.get(kind)
        if not h or h[6] >= len(self.heads):
            return
        syms = self.heads[h[6]]
        for i in range(h[5] // 24):
            off, info = struct.unpack_from('<QQ', self.data, h[4] + 24 * i)
            typ = info & 0xffffffff
            if typ in (6, 7) and info >> 32:
                name, = struct.unpack_from('<I', self.data, syms[4] + 24 * (info >> 32))
                self.slots[off] = self._string(syms[6], name).split('@')[0]
            elif typ == 37:
                self.slots[off] = None

    def _frames(self):
        """Starts of the functions in the sorted table of .eh_frame_hdr."""
        h = self.sections.get('.eh_frame_hdr')
        if not h or self.data[h[4]:h[4] + 4] != b'\x01\x1b\x03\x3b':
            return
        cnt, = struct.unpack_from('<I', self.data, h[4] + 8)
        for i in range(cnt):
            start, = struct.unpack_from('<i', self.data, h[4] + 12 + 8 * i)
            size, = struct.unpack_from('<i', self.data, h[4] + 16 + 8 * i)
            self._read_extent(h[3] + start, h[3] + size)
            yield h[3] + start

    def _read_extent(self, start, fde):
        """Notes where the function of an FDE ends, if its addresses are relative with 32 bits, as usual."""
        for _, _, at, vaddr, _, size, _, _ in self.segs:
            if vaddr <= fde < vaddr + size - 16:
                size, = struct.unpack_from('<I', self.data, at + fde - vaddr + 12)
                self.extents[start] = start + size

    def has_rules(self, addr):
        """Whether an FDE or Go's table covers an address."""
        start, _ = self.function(addr)
        return addr < self.extents.get(start, 0) or start in self.go_starts

    def _go_functions(self):
        """Starts of the functions in Go's table, which stripped files keep."""
        h = self.sections.get('.gopclntab') or self.sections.get('.data.rel.ro.gopclntab')
        if not h or self.data[h[4]:h[4] + 4] not in (b'\xf0\xff\xff\xff', b'\xf1\xff\xff\xff'):
            return
        cnt, _, text, names, _, _, _, table = struct.unpack_from('<8Q', self.data, h[4] + 8)
        for i in range(cnt if text else 0):
            start, func = struct.unpack_from('<II', self.data, h[4] + table + 8 * i)
            name, = struct.unpack_from('<I', self.data, h[4] + table + func + 4)
            at = h[4] + names + name
            self.named[text + start] = self.data[at:self.data.index(b'\0', at)].decode()
            yield text + start

    def addr(self, off):
        for _, _, at, vaddr, _, size, _, _ in self.segs:
            if at <= off < at + size:
                return vaddr + off - at
        return None

    def code(self, addr, size):
        for _, _, at, vaddr, _, filesz, _, _ in self.segs:
            if vaddr <= addr and addr + size <= vaddr + filesz:
                return self.data[at + addr - vaddr:at + addr - vaddr + size]
        return b''

    def stub(self, addr):
        """The section of stubs that an address lies in."""
        for name, h in self.sections.items():
            if name.startswith('.plt') and h[3] <= addr < h[3] + h[5]:
                return h
        return None

    def function(self, addr):
        """Start and end of the function around an address."""
        h = self.stub(addr)
        if h:
            size = 8 if h[9] == 8 else 16
            start = h[3] + (addr - h[3]) // size * size
            return start, start + size
        i = bisect.bisect_right(self.starts, addr)
        start = self.starts[i - 1] if i else 0
        end = self.starts[i] if i < len(self.starts) else addr + 1
        return start, end

    def jumps(self, addr):
        """Targets of the jumps that leave the function; None in them: an indirect jump."""
        start, end = self.function(addr)
        if start not in self.jumped:
            end = min(end, start + UNKNOWN_FUNCTION_MAX)
            text = subprocess.run(
                ['objdump', '-D', '--no-show-raw-insn', f'--start-address={start:#x}',
                 f'--stop-address={end:#x}', self.path],
                capture_output=True, text=True, check=False).stdout
            out = set()
            for m in re.finditer(r'\t(?:bnd |notrack )*(j\w+) +(\S+)(.*)', text):
                if m[2].startswith('*'):
                    slot = re.search(r'# ([0-9a-f]+)', m[3])
                    name = self.slots.get(int(slot[1], 16)) if slot else None
                    out.add(name)
                    continue
                target = int(m[2].rstrip(',pntp'), 16)
                if not start <= target < end:
                    out.add(target)
            self.jumped[start] = out
        return self.jumped[start]


class Code:
    """All files of a trace, and what calls in them reach."""

    def __init__(self):
        self.modules = {}

    def module(self, path):
        if path not in self.modules:
            try:
                self.modules[path] = Module(path) if path.startswith('/') else None
            except (OSError, ValueError, struct.error):
                self.modules[path] = None
        return self.modules[path]

    @staticmethod
    def call_before(m, ret):
        """The target of the call before an address; 0: indirect; None: no call."""
        code = m.code(ret - 5, 5)
        if code[:1] == b'\xe8':
            target = (ret + struct.unpack('<i', code[1:])[0]) & (1 << 64) - 1
            if m.code(target, 1):
                return target
        code = m.code(ret - 7, 7)
        for size in (2, 3, 4, 6, 7):
            if len(code) == 7 and Code._is_indirect(code[7 - size:]):
                return 0
        return None

    @staticmethod
    def _is_trampoline(m, addr):
        """Whether the code, or the code after it, returns from a signal handler."""
        return any(m.code(addr + i, 9).startswith(SIGRETURN) for i in range(-9, 2))

    @staticmethod
    def _is_indirect(insn):
        if insn[0] != 0xff or insn[1] >> 3 & 7 != 2:
            return False
        mod, rm = insn[1] >> 6, insn[1] & 7
        size = 2 + (mod != 3 and rm == 4)
        size += {0: 4 * (rm == 5), 1: 1, 2: 4, 3: 0}[mod]
        if mod == 0 and rm == 4 and len(insn) > 2 and insn[2] & 7 == 5:
            size += 4
        return size == len(insn)

    @staticmethod
    def _in_named(name, callee, addr):
        """Whether the callee can be the function of this name."""
        if name is None or name not in callee.by_name or name in callee.resolved:
            return True
        start, _ = callee.function(addr)
        return start in callee.by_name[name]

    def leads_to(self, m, target, callee, addr):
        """Whether code at the target gets to the callee without another call."""
        seen, todo = set(), [(m, target, 0)]
        while todo:
            m, target, depth = todo.pop()
            start, end = m.function(target)
            if m is callee and start <= addr < end:
                return True
            if (m.path, start) in seen or depth > JUMPS_MAX:
                continue
            seen.add((m.path, start))
            for to in m.jumps(target):
                if isinstance(to, int):
                    todo.append((m, to, depth + 1))
                elif self._in_named(to, callee, addr):
                    return True
                else:
                    todo += [(callee, a, depth + 1) for a in callee.by_name[to]]
        return False

    def verdict(self, callee, caller):
        """None: not checked; '': possible; else why the pair is impossible."""
        (callee_path, callee_off, callee_sym), (path, off, _) = callee, caller
        m, c = self.module(path), self.module(callee_path)
        addr = m and m.addr(off)
        to = c and c.addr(callee_off)
        if addr is None:
            return None
        if m.code(addr + 1, 9).startswith(SIGRETURN) or GOEXIT.match(m.code(addr, 7)):
            return ''
        if to is not None and (self._is_trampoline(c, to) or
                               INJECTED.match(c.named.get(c.function(to)[0], callee_sym))):
            return ''
        target = self.call_before(m, addr + 1)
        if target is None:
            return 'no call'
        if not target or to is None or os.path.basename(callee_path).startswith('ld-linux'):
            return ''
        return '' if self.leads_to(m, target, c, to) else f'call of {self.show(m, target)}'

    def without_rules(self, frame):
        """Whether a frame lies in code without unwind information."""
        path, off, _ = frame
        m = self.module(path)
        addr = m and m.addr(off)
        return addr is None or not m.has_rules(addr)

    @staticmethod
    def show(m, addr):
        start, _ = m.function(addr)
        return f'{m.named.get(start, hex(start))}+{addr - start:#x}'


def user_frames(event):
    """Frames of an event's user stack, leaf first: path, offset, symbol."""
    for f in event.get('stack', ()):
        dso = f.get('dso', '')
        kernel = dso.startswith(('[kernel', 'bpf_prog')) or dso.endswith('.ko')
        if not f.get('inlined') and not kernel:
            yield dso, int(f['addr'], 16) & (1 << 40) - 1, f.get('sym') or ''


def main(args):
    verbose = args[:1] == ['-v']
    name = (args[verbose:] or ['trace'])[0]
    code, known = Code(), {}
    cnt, bad, ends = collections.Counter(), collections.Counter(), collections.Counter()
    for line in sys.stdin:
        event = json.loads(line)
        end = event.get('user_end')
        frames = list(user_frames(event)) if end else ()
        if not frames:
            continue
        cnt['stacks'] += 1
        cnt['complete'] += end == 'complete'
        if end != 'complete':
            ends[end, frames[-1]] += 1
        uncertain, guessed = event.get('uncertain_caller'), False
        for pair in zip(frames, frames[1:]):
            # a guess can lead to the wrong place on the stack, so it concerns the pairs above it, too
            guessed = guessed or (uncertain and code.without_rules(pair[0]))
            mark = 'guessed' if guessed else 'pairs'
            if pair not in known:
                known[pair] = code.verdict(*pair)
            cnt[mark] += 1
            cnt['unchecked'] += known[pair] is None
            if known[pair]:
                cnt[mark + ' impossible'] += 1
                bad[mark, pair, known[pair]] += 1
    print(f"{name:<12} {cnt['stacks']:8} {100 * cnt['complete'] / max(cnt['stacks'], 1):9.2f}% "
          f"{cnt['pairs']:9} {cnt['pairs impossible']:10} {cnt['guessed']:8} "
          f"{cnt['guessed impossible']:10} {cnt['unchecked']:9}", flush=True)
    if verbose:
        for (mark, (callee, caller), why), n in bad.most_common(20):
            print(f'    {n:6} {mark:8} {callee[2]} ({os.path.basename(callee[0])}+{callee[1]:#x}) < '
                  f'{caller[2]} ({os.path.basename(caller[0])}+{caller[1]:#x}): {why}')
        for (end, (path, off, sym)), n in ends.most_common(10):
            print(f'    {n:6} {end} after {sym} ({os.path.basename(path)}+{off:#x})')
    return bool(cnt['pairs impossible'])


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
