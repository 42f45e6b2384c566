import { createReadStream } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { type ExitCode, toVoxmuxError, UsageError, VoxmuxError, withPath } from '../core/errors.js'
import { unreadableFile } from '../core/unreadable-file.js'
import type { Ledger, LedgerRow } from '../ledger/index.js'
import { jobHeld } from '../pipeline/queue/retry-job.js'
import type { CommandContext } from './command.js'

/** Characters of a row. A device or another file may have no line break at all. */
const LONGEST_ROW = 16 * 1024 ** 2

/**
 * Writes a ledger to a new file, or adds the rows of such a file to it: one row as JSON a line.
 *
 * @throws {UsageError} `ERR_USAGE`
 * @throws {TransientError} `ERR_JOB_HELD` while a process runs a job: two ledgers would pay for it
 */
export async function moveLedger(
  ledger: Ledger,
  action: 'export' | 'import',
  names: readonly string[] | undefined,
  { cwd, output }: CommandContext,
): Promise<ExitCode> {
  const [name, ...others] = names ?? []
  if (name === undefined || others.length > 0)
    throw new UsageError('ERR_USAGE', `Which file? Name one: \`voxmux jobs ${action} ledger.ndjson\`.`)
  const file = resolve(cwd, name)
  const count = action === 'export' ? await write(ledger, file) : await ledger.rows.import(rowsOf(file))
  output.event({ event: `${action}ed`, count, file })
  output.print(action === 'export' ? `Exported: ${count} rows to ${file}` : `Imported: ${count} new rows from ${file}`)
  return 0
}

async function write(ledger: Ledger, file: string): Promise<number> {
  const running = await ledger.jobs.list({ statuses: ['working', 'waiting-remote'], limit: 10_000 })
  const held = running.find(({ holder }) => holder !== null)
  if (held) throw jobHeld(held)
  const handle = await open(file, 'wx', 0o600).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'EEXIST')
      throw new UsageError('ERR_OUTPUT_EXISTS', `${file} already exists, and voxmux does not replace files unasked.`, {
        remedies: ['Name a file that does not exist yet.'],
      })
    if (cause.code === 'ENOENT') throw unreadableFile('ERR_OUTPUT_UNWRITABLE', dirname(file), cause)
    throw toVoxmuxError(cause, file)
  })
  let count = 0
  try {
    for await (const row of ledger.rows.export()) {
      await handle.write(`${JSON.stringify(row)}\n`)
      count += 1
    }
    await handle.sync()
  } catch (error) {
    await rm(file, { force: true })
    throw toVoxmuxError(withPath(error, file), file)
  } finally {
    await handle.close()
  }
  return count
}

async function* rowsOf(file: string): AsyncGenerator<LedgerRow> {
  let rest = ''
  try {
    for await (const text of createReadStream(file, { encoding: 'utf8', highWaterMark: 1 << 20 })) {
      const lines = `${rest}${text}`.split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield rowOf(line, file)
      if (rest.length > LONGEST_ROW) throw notExported(file)
    }
    if (rest !== '') yield rowOf(rest, file)
  } catch (error) {
    throw error instanceof VoxmuxError ? error : unreadableFile('ERR_USAGE', file, error)
  }
}

function rowOf(line: string, file: string): LedgerRow {
  try {
    const { table, row } = JSON.parse(line) as LedgerRow
    if (typeof table === 'string' && typeof row === 'object' && row !== null) return { table, row }
  } catch {
    // Reported below.
  }
  throw notExported(file)
}

function notExported(file: string): UsageError {
  return new UsageError('ERR_USAGE', `${file} was not written by \`voxmux jobs export\`.`, {
    remedies: ['Name a file that `voxmux jobs export` wrote.'],
  })
}
