import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Nothing here may outlive a test that hangs. */
const DEADLINE_MS = 45_000
/** The port that clients of Python's samba module know; addresses of loopback there are plenty. */
const PORT = 445
/** The system's own, which has the module `samba`. */
const PYTHON = '/usr/bin/python3'

/**
 * Reserves the full size of a file (SetEndOfFile, as Windows does before it copies) and fills it piece by piece; asks
 * for leave on stdin before each, and says `reserved`.
 */
const FILLER = `
import sys
from samba.credentials import Credentials
from samba.samba3 import libsmb_samba_internal as libsmb, param
conf, address, name, source, pieces = sys.argv[1:]
context = param.get_context()
context.load(conf)
nobody = Credentials()
nobody.guess(context)
nobody.set_anonymous()
share = libsmb.Conn(address, "in", context, nobody, force_smb1=True)
data = open(source, "rb").read()
size = -(-len(data) // int(pieces))
file = share.create(name, DesiredAccess=0x12019f, CreateDisposition=5, ShareAccess=7)
share.truncate(file, len(data))
print("reserved", flush=True)
for at in range(0, len(data), size):
    sys.stdin.readline()
    for begin in range(at, min(at + size, len(data)), 32768):
        share.write(file, data[begin:min(begin + 32768, at + size)], begin)
    print("written", flush=True)
share.close(file)
`

/** Why no Samba server can be had; null where one can. */
export const NO_SAMBA: string | null = await whyNoSamba()

async function whyNoSamba(): Promise<string | null> {
  if (spawnSync('smbd', ['--version']).status !== 0) return 'no smbd'
  if (spawnSync('smbclient', ['--version']).status !== 0) return 'no smbclient'
  if (spawnSync(PYTHON, ['-c', 'import samba.samba3']).status !== 0) return `no samba module in ${PYTHON}`
  const server = createServer()
  const mayListen = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false)).listen(PORT, randomLoopback(), () => resolve(true))
  })
  server.close()
  return mayListen ? null : `port ${PORT} is not ours to listen at`
}

/** A real smbd that exports one folder, to anybody who comes as a guest. */
export class SambaServer {
  readonly #dir: string
  readonly #address: string
  readonly #children: ChildProcess[] = []

  private constructor(dir: string, address: string) {
    this.#dir = dir
    this.#address = address
  }

  /** Exports a folder, with the full size of files reserved at once (`strict allocate`). */
  static async start(folder: string): Promise<SambaServer> {
    const dir = mkdtempSync(join(tmpdir(), 'voxmux-samba-'))
    const server = new SambaServer(dir, randomLoopback())
    writeFileSync(join(dir, 'smb.conf'), configuration(dir, folder, server.#address))
    mkdirSync(join(dir, 'own'), { mode: 0o700 })
    const daemon = server.#spawn('smbd', ['--foreground', '--no-process-group', `--configfile=${dir}/smb.conf`])
    while (!(await answers(server.#address))) {
      if (daemon.exitCode !== null) throw new Error(`smbd has ended: ${readFileSync(join(dir, 'own/log'), 'utf8')}`)
      await sleep(50)
    }
    return server
  }

  /** Has smbclient carry out commands (`put a b; rename b c`). */
  async client(commands: string): Promise<void> {
    await ended(this.#client(commands))
  }

  /**
   * Copies a file in as one that grows: piece by piece through smbclient's stdin.
   *
   * @param before awaited before each piece, with its number and whether it is the last
   */
  async copyGrowing(
    bytes: Buffer,
    name: string,
    pieces: number,
    before: (isLast: boolean) => Promise<void>,
  ): Promise<void> {
    const client = this.#client(`put - "${name}"`)
    const size = Math.ceil(bytes.length / pieces)
    for (let at = 0; at < bytes.length; at += size) {
      await before(at + size >= bytes.length)
      client.stdin?.write(bytes.subarray(at, at + size))
    }
    client.stdin?.end()
    await ended(client)
  }

  /** Copies a file in whose full size is reserved first; see {@link copyGrowing}. */
  async copyReserved(
    source: string,
    name: string,
    pieces: number,
    before: (isLast: boolean) => Promise<void>,
  ): Promise<void> {
    const filler = this.#spawn(PYTHON, [
      ...['-c', FILLER, join(this.#dir, 'smb.conf'), this.#address, name, source, String(pieces)],
    ])
    const end = ended(filler)
    for (let piece = 1; piece <= pieces; piece++) {
      await Promise.race([filler.stdout && once(filler.stdout, 'data'), end])
      await before(piece === pieces)
      filler.stdin?.write('\n')
    }
    await end
  }

  /** Ends the server and whatever still talks to it, each with its children. */
  async close(): Promise<void> {
    for (const child of this.#children) {
      if (child.pid === undefined) continue
      try {
        process.kill(-child.pid, 'SIGKILL')
      } catch {
        // It has ended.
      }
    }
    rmSync(this.#dir, { recursive: true, force: true })
  }

  #client(commands: string): ChildProcess {
    const conf = join(this.#dir, 'smb.conf')
    return this.#spawn('smbclient', [`//${this.#address}/in`, `--configfile=${conf}`, '--no-pass', '-c', commands])
  }

  /** In a process group of its own, which ends with its deadline at the latest. */
  #spawn(program: string, args: readonly string[]): ChildProcess {
    const stdin = program === 'smbd' ? 'ignore' : 'pipe'
    const child = spawn(program, args, { detached: true, stdio: [stdin, 'pipe', 'pipe'] })
    this.#children.push(child)
    child.stdin?.on('error', () => {})
    if (program !== 'smbd') {
      const deadline = setTimeout(() => child.kill('SIGKILL'), DEADLINE_MS)
      child.once('close', () => clearTimeout(deadline))
    }
    return child
  }
}

/** Waits until a client is done. @throws Error with all that it said, where it did not succeed */
async function ended(child: ChildProcess): Promise<void> {
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text) => (said += text))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  if (code !== 0) throw new Error(`${child.spawnfile} ended with ${code ?? signal}: ${said}`)
}

function answers(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(PORT, address)
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false))
    socket.once('connect', () => socket.end())
  })
}

function randomLoopback(): string {
  const part = () => 1 + Math.floor(Math.random() * 253)
  return `127.${part()}.${part()}.${part()}`
}

function configuration(dir: string, folder: string, address: string): string {
  const own = join(dir, 'own')
  return `
[global]
  server role = standalone server
  interfaces = ${address}/8
  bind interfaces only = yes
  smb ports = ${PORT}
  disable netbios = yes
  # Only SMB1 has the client of Python set a size.
  server min protocol = NT1
  client min protocol = NT1
  # What smbclient is given goes out in such pieces.
  smb2 max write = 65536
  map to guest = Bad User
  guest account = ${userInfo().username}
  load printers = no
  printing = bsd
  printcap name = /dev/null
  disable spoolss = yes
  logging = file
  log file = ${own}/log
${['private dir', 'lock directory', 'state directory', 'cache directory', 'pid directory']
  .map((name) => `  ${name} = ${own}`)
  .join('\n')}
  ncalrpc dir = ${own}/ncalrpc
[in]
  path = ${folder}
  guest ok = yes
  guest only = yes
  read only = no
  strict allocate = yes
`
}
