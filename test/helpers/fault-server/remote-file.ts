import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { ClientProcessOptions, FileProcessingStatus } from '../../../src/contract/index.js'

/** A status as a script has it: the id is filled in. */
export type ScriptedStatus = Omit<FileProcessingStatus, 'id'>

/** What "regeneration" is told. */
export interface RegenerationInfo {
  fileId: string
  clientFileId: string
  startSec: number | undefined
  endSec: number | undefined
  options: ClientProcessOptions
}

/** Makes the answer of what was uploaded to `inputPath`: bytes, or the path of a file. The default is identity. */
export type Regenerate = (inputPath: string, info: RegenerationInfo) => Promise<Buffer | string> | Buffer | string

/** A file as the service knows it. */
export class RemoteFile {
  uploaded = false
  /** How often processing was charged: more than once is what nobody wants. */
  charges = 0
  options: ClientProcessOptions = { model: 'regen_v1' }
  outputPath: string | undefined
  failed: ScriptedStatus | undefined
  readonly inputPath: string
  readonly #dir: string
  #polls = 0

  constructor(
    readonly id: string,
    readonly clientFileId: string,
    readonly startSec: number | undefined,
    readonly endSec: number | undefined,
    readonly sourceUrl: string | undefined,
    dir: string,
  ) {
    this.#dir = dir
    this.inputPath = join(dir, `${id}.in`)
  }

  /** Fetches what it was registered from, where it was, and regenerates it. */
  async process(regenerate: Regenerate): Promise<void> {
    try {
      if (this.sourceUrl && !(await this.#fetched(this.sourceUrl))) return
      const { id: fileId, clientFileId, startSec, endSec, options } = this
      const answer = await regenerate(this.inputPath, { fileId, clientFileId, startSec, endSec, options })
      if (typeof answer === 'string') this.outputPath = answer
      else {
        const path = join(this.#dir, `${this.id}.out`)
        await writeFile(path, answer)
        this.outputPath = path
      }
    } catch {
      this.failed = { status: 'Failed', errorCode: -1, progress: 0 }
    }
  }

  async #fetched(url: string): Promise<boolean> {
    const response = await fetch(url).catch(() => undefined)
    if (response?.ok) await writeFile(this.inputPath, Buffer.from(await response.arrayBuffer()))
    else this.failed = { status: 'Failed', errorCode: -17, progress: 0 }
    return response?.ok ?? false
  }

  /** The next status of the script; Succeeded is held back until the answer is there. */
  nextStatus(script: readonly ScriptedStatus[]): FileProcessingStatus {
    const { id } = this
    if (this.failed) return { id, ...this.failed }
    if (this.charges === 0) return { id, status: 'Pending', errorCode: 0, progress: 0 }
    const next = script[Math.min(this.#polls++, script.length - 1)] ?? {
      status: 'Succeeded',
      errorCode: 0,
      progress: 100,
    }
    if (next.status !== 'Succeeded' || this.outputPath) return { id, ...next }
    return { id, status: 'InProgress', errorCode: 0, progress: 99 }
  }

  /** The bytes uploaded. */
  input(): Promise<Buffer> {
    return readFile(this.inputPath)
  }

  async outputBytes(): Promise<number> {
    return this.outputPath ? (await stat(this.outputPath)).size : 0
  }
}
