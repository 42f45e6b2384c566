import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A system call that succeeded. `began` and `ended` are lines of the trace: the calls of several threads overlap. */
export interface SystemCall {
  readonly name: string
  /** As strace writes them: descriptors with their paths, what is written in quotes. */
  readonly args: string
  readonly began: number
  readonly ended: number
}

/** What changes files and folders, brings them to the disk, or sends. `?`: not every processor has each. */
const TRACED = [
  ...['write', 'writev', 'pwrite64', 'pwritev', '?pwritev2', 'sendto', 'sendmsg', 'ftruncate', 'fallocate'],
  ...['copy_file_range', 'sendfile', 'fsync', 'fdatasync', '?mkdir', 'mkdirat', '?link', 'linkat'],
  ...['?rename', '?renameat', 'renameat2', '?unlink', 'unlinkat'],
]
/** A whole page of a database. */
const STRING_BYTES = 4200

/** Why no system calls can be watched here; null where they can. */
export const NO_STRACE: string | null = whyNoStrace()

function whyNoStrace(): string | null {
  if (process.platform !== 'linux') return 'strace is for Linux'
  const { error, status } = spawnSync('strace', ['-f', '--seccomp-bpf', '-e', 'trace=fsync', 'true'], {
    stdio: 'ignore',
  })
  if (error) return 'strace is not installed (Debian: apt-get install strace)'
  return status === 0 ? null : 'strace may not trace here'
}

/** A program to run others through, and what they and their children did. */
export interface SystemCallTrace {
  readonly through: readonly string[]
  read(): SystemCall[]
  remove(): void
}

export function traceSystemCalls(): SystemCallTrace {
  const folder = mkdtempSync(join(tmpdir(), 'voxmux-trace-'))
  const file = join(folder, 'trace')
  return {
    through: ['strace', '-f', '--seccomp-bpf', '-y', '-s', `${STRING_BYTES}`, '-e', `trace=${TRACED}`, '-o', file],
    read: () => parse(readFileSync(file, 'latin1')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

function parse(text: string): SystemCall[] {
  const calls: SystemCall[] = []
  const begun = new Map<string, { began: number; head: string }>()
  for (const [at, line] of text.split('\n').entries()) {
    const [, thread = '', said = ''] = /^(\d+) +(.*)$/.exec(line) ?? []
    const unfinished = /^(.*) <unfinished \.\.\.>$/.exec(said)?.[1]
    if (unfinished !== undefined) {
      begun.set(thread, { began: at, head: unfinished })
      continue
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(said)?.[1]
    const { began, head } = (resumed !== undefined && begun.get(thread)) || { began: at, head: '' }
    const [, name, args, result = '-1'] = /^(\w+)\((.*)\) += (-?\d+)/.exec(head + (resumed ?? said)) ?? []
    if (name !== undefined && args !== undefined && Number(result) >= 0) calls.push({ name, args, began, ended: at })
  }
  return calls
}
