import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test as base } from 'vitest'
import { VoxmuxClient, type VoxmuxClientOptions } from '../../src/client/index.js'
import { type Fault, FaultServer } from '../helpers/fault-server.js'

/** Pauses short enough for tests; the numbers of the defaults are tested where they are pure functions. */
export const QUICK = {
  retry: { limit: 3, baseMs: 1, maxMs: 4, retryAfterMaxMs: 1_500 },
  timeouts: { connectMs: 5_000, answerMs: 5_000, idleMs: 5_000 },
  polling: { minMs: 2, maxMs: 10, hookedMs: 20, notFoundGraceMs: 60, outageMs: 60_000 },
} as const satisfies Partial<VoxmuxClientOptions>

/** For a service that never answers: the others must not be cut short by a slow machine. */
export function impatientFor(fault: Fault): Partial<VoxmuxClientOptions> {
  return fault.kind === 'hang' || fault.kind === 'drip'
    ? { timeouts: { connectMs: 5_000, answerMs: 400, idleMs: 400 } }
    : {}
}

interface Harness {
  server: FaultServer
  /** A client of that server, closed afterwards. */
  client: VoxmuxClient
  /** More clients of it, closed afterwards. */
  connect: (options?: Partial<VoxmuxClientOptions>) => VoxmuxClient
  /** A folder, removed afterwards. */
  dir: string
  /** Writes a file of so many bytes, all different enough to tell a mix-up. */
  file: (bytes: number) => Promise<{ path: string; content: Buffer }>
  /** Registers, uploads and starts a file and waits for its end: the id of something to download. */
  finished: (bytes: number) => Promise<{ fileId: string; content: Buffer }>
}

export const test = base.extend<Harness>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the names of the fixtures from the pattern
  server: async ({}, use) => {
    const server = await FaultServer.start()
    await use(server)
    await server.close()
  },
  connect: async ({ server }, use) => {
    const clients: VoxmuxClient[] = []
    await use((options = {}) => {
      const client = new VoxmuxClient({ ...server.clientOptions, ...QUICK, ...options })
      clients.push(client)
      return client
    })
    for (const client of clients) client.close()
  },
  client: async ({ connect }, use) => use(connect()),
  // biome-ignore lint/correctness/noEmptyPattern: as above
  dir: async ({}, use) => {
    const dir = await mkdtemp(join(tmpdir(), 'voxmux-client-'))
    await use(dir)
    await rm(dir, { recursive: true, force: true })
  },
  file: async ({ dir }, use) => {
    let count = 0
    await use(async (bytes) => {
      const seed = ++count
      const path = join(dir, `input-${seed}.bin`)
      const content = Buffer.alloc(bytes)
      for (let index = 0; index < bytes; index++) content[index] = index * 31 + (index >> 8) + seed
      await writeFile(path, content)
      return { path, content }
    })
  },
  finished: async ({ client, file }, use) => {
    await use(async (bytes) => {
      const { path, content } = await file(bytes)
      const { file_id: fileId } = await client.registerAndUpload({ clientFileId: 'clip.wav' }, path)
      await client.startOnce(fileId)
      await client.waitFor(fileId)
      return { fileId, content }
    })
  },
})

/** The error a promise ends with; a promise that succeeds fails the test. */
export async function errorOf(promise: Promise<unknown>): Promise<Error & { code?: string }> {
  try {
    await promise
  } catch (thrown) {
    return thrown as Error & { code?: string }
  }
  throw new Error('It was expected to fail.')
}
