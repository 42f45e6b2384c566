import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { OPERATIONS } from '../../../src/contract/index.js'
import type { Receipt } from '../../../src/pipeline/output/receipt.js'
import { FaultServer } from '../../helpers/fault-server.js'
import {
  NO_STRACE,
  type SystemCall,
  type SystemCallTrace,
  traceSystemCalls,
} from '../../helpers/system/system-calls.js'
import { runCli } from '../../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../../helpers/workshop.js'

/**
 * A power cut keeps what was synced, and of the rest any part in any order. So the proof is in the order of the system
 * calls of a real job: what a record promises is on the disk before the record is written, and the record before what it
 * guards begins.
 */
if (NO_STRACE !== null) process.stderr.write(`Skipped: the order of what reaches the disk: ${NO_STRACE}\n`)

/** The soak cuts the power of a sound as well. */
const FILES = process.env.VOXMUX_SOAK ? ['speech.wav', 'phone.mp4'] : ['phone.mp4']

let server: FaultServer
let workshop: Workshop
let trace: SystemCallTrace
beforeEach(async () => {
  server = await FaultServer.start()
  workshop = openWorkshop()
  // The command makes it, in an order that is asserted.
  rmSync(workshop.env.VOXMUX_STATE_DIR ?? '', { recursive: true, force: true })
  trace = traceSystemCalls()
})
afterEach(async () => {
  trace.remove()
  workshop.remove()
  await server.close()
})

describe.skipIf(NO_STRACE !== null)('a power cut', () => {
  it.each(FILES)('finds %s published, recorded and paid for in this order', async (name) => {
    const place = (...parts: string[]) => join(workshop.path('in'), ...parts)
    const [source, output, moved] = [place(name), place('out', name), place('done', name)]
    mkdirSync(place())
    renameSync(workshop.take(name), source)
    const config = workshop.path('watch.json')
    const folders = [{ path: place(), source: 'move' }]
    writeFileSync(config, JSON.stringify({ watch: { settleSec: 0.1, scanSec: 0.2, folders } }))
    const state = workshop.env.VOXMUX_STATE_DIR ?? ''
    const result = await runCli(['watch', '--config', config, '--once', '--json'], {
      ...{ cwd: workshop.dir, through: trace.through },
      // Calls over io_uring would go past the trace.
      env: { ...server.env, ...workshop.env, UV_USE_IO_URING: '0' },
    })
    expect(result.exitCode, result.stderr).toBe(0)

    const disk = new Disk(trace.read())
    const { id: fileId } = server.files[0] ?? { id: 'none' }
    const wal = join(state, 'ledger.sqlite-wal')
    const upload = disk.sent('PUT /')
    const start = disk.sent(`POST ${OPERATIONS.startProcess.path}`)
    const told = disk.said('"event":"file"')
    // Nothing but the end of the job lies between what it wrote last and its telling of it.
    const recorded = disk.committedLast(wal, told)
    const linked = disk.named(output)
    const receipt = disk.named(`${output}.voxmux.json`)

    // What was sent is known, and so is the intent to pay, before either is done.
    disk.requireRecord(wal, [fileId], upload)
    disk.requireRecord(wal, ['starting'], start)
    for (const folder of [state, dirname(output), dirname(moved)])
      disk.requireFolderSynced(disk.made(folder), recorded, dirname(folder))

    // Output and receipt: bytes, then what the ledger knows it by, then the name, then the folder, then "done".
    for (const named of [linked, receipt]) {
      disk.requireBytesSynced(named)
      disk.requireFolderSynced(named, recorded, dirname(output))
    }
    const { sha256 } = (JSON.parse(readFileSync(`${output}.voxmux.json`, 'utf8')) as Receipt).output
    // Either half, as a row may be parted by the end of a page.
    disk.requireRecord(wal, [sha256.slice(0, 32), sha256.slice(32)], linked)

    // The source goes when its new name, and all that was made of it, is on the disk.
    const removed = disk.removed(source)
    disk.requireFolderSynced(disk.named(moved), removed, dirname(moved))
    for (const named of [linked, receipt]) disk.requireFolderSynced(named, removed, dirname(output))
  })

  it('finds what the embedded service accepted and made, and the folder known that it belongs to', async () => {
    const result = await runCli(['run', workshop.take('speech.wav'), '--json'], {
      ...{ cwd: workshop.dir, through: trace.through, env: { ...workshop.env, UV_USE_IO_URING: '0' } },
    })
    expect(result.exitCode, result.stderr).toBe(0)
    const disk = new Disk(trace.read())
    const state = workshop.env.VOXMUX_STATE_DIR ?? ''
    const answers = [
      { named: disk.named(/\/files\/.*\/input$/), answer: disk.answered('HTTP/1.1 201') },
      { named: disk.named(/\/files\/.*\/output\.\w+$/), answer: disk.answered('Succeeded') },
    ]
    for (const { named, answer } of answers) {
      const folder = dirname(paths(named.args).at(-1) ?? '')
      disk.requireBytesSynced(named)
      disk.requireFolderSynced(named, answer, folder)
      disk.requireFolderSynced(disk.made(folder), answer, dirname(folder))
    }
    disk.requireFolderSynced(disk.named(join(state, 'identity')), disk.sent('PUT /'), state)
  })
})

/** The system calls of a process, asked in the terms of a disk. */
class Disk {
  constructor(private readonly calls: readonly SystemCall[]) {}

  /** The call that gave a file its name. */
  named(path: string | RegExp): SystemCall {
    const isIt = (name = '') => (typeof path === 'string' ? name === path : path.test(name))
    return this.#first(({ name, args }) => /^(link|rename)/.test(name) && isIt(paths(args).at(-1)), `naming ${path}`)
  }

  made(folder: string): SystemCall {
    return this.#first(({ name, args }) => name.startsWith('mkdir') && paths(args).at(-1) === folder, `mkdir ${folder}`)
  }

  /** The call that took a file's name away, to remove the file only under another one. */
  removed(path: string): SystemCall {
    return this.#first(({ name, args }) => name.startsWith('rename') && paths(args)[0] === path, `rename ${path}`)
  }

  /** The first request that begins so. */
  sent(request: string): SystemCall {
    return this.#first(({ args }) => /^\d+<(socket|TCP)/.test(args) && args.includes(`"${request}`), `${request} sent`)
  }

  /** The first answer over the network with a text in it. */
  answered(text: string): SystemCall {
    return this.#first(({ args }) => /^\d+<(socket|TCP)/.test(args) && args.includes(text), `an answer with ${text}`)
  }

  said(text: string): SystemCall {
    const quoted = text.replaceAll('"', '\\"')
    return this.#first(({ args }) => args.includes(quoted), `${text} said`)
  }

  /** The first write of the last transaction that was on the disk before then. */
  committedLast(file: string, before: SystemCall): SystemCall {
    const own = this.calls.filter(({ args, ended }) => isTo(args, file) && ended < before.began)
    const synced = own.findLastIndex(isSync)
    const last = own.slice(0, synced).findLastIndex((call) => isSync(call))
    const write = own[last + 1]
    if (synced < 0 || !write) throw new Error(`nothing was brought to ${file}`)
    return write
  }

  /** A page with one of the texts was on the disk before the call. */
  requireRecord(file: string, texts: readonly string[], before: SystemCall): void {
    const write = this.#first(
      ({ name, args }) => name === 'pwrite64' && isTo(args, file) && texts.some((text) => args.includes(text)),
      `${texts} in ${file}`,
    )
    const sync = this.calls.find((call) => isSync(call) && isTo(call.args, file) && call.began > write.ended)
    expect(sync?.ended ?? Number.POSITIVE_INFINITY, `${texts} is on the disk before ${shown(before)}`).toBeLessThan(
      before.began,
    )
  }

  /** All bytes of the file that got a name here were on the disk before. */
  requireBytesSynced(naming: SystemCall): void {
    const part = paths(naming.args)[0] ?? ''
    const own = this.calls.filter(({ args, began }) => isTo(args, part) && began < naming.began)
    const written = own.findLast((call) => !isSync(call))
    expect(written, `a write to ${part}`).toBeDefined()
    const sync = own.find((call) => isSync(call) && call.began > (written?.ended ?? 0))
    expect(sync?.ended ?? Number.POSITIVE_INFINITY, `${part} is on the disk before ${shown(naming)}`).toBeLessThan(
      naming.began,
    )
  }

  /** What was changed in a folder was on the disk before the call. */
  requireFolderSynced(change: SystemCall, before: SystemCall, folder: string): void {
    const sync = this.calls.find((call) => isSync(call) && isTo(call.args, folder) && call.began > change.ended)
    expect(
      sync?.ended ?? Number.POSITIVE_INFINITY,
      `${shown(change)} is on the disk before ${shown(before)}`,
    ).toBeLessThan(before.began)
  }

  #first(isIt: (call: SystemCall) => boolean, what: string): SystemCall {
    const call = this.calls.find(isIt)
    if (!call) throw new Error(`not in the trace: ${what}`)
    return call
  }
}

function isSync({ name }: SystemCall): boolean {
  return name === 'fsync' || name === 'fdatasync'
}

/** Whether the call's descriptor is that of the file. */
function isTo(args: string, path: string): boolean {
  return args.includes(`<${path}>`)
}

/** The quoted arguments. */
function paths(args: string): string[] {
  return [...args.matchAll(/"([^"]*)"/g)].map(([, path = '']) => path)
}

function shown({ name, args }: SystemCall): string {
  return `${name}(${args.slice(0, 200)})`
}
