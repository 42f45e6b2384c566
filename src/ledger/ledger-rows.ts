import { UsageError } from '../core/errors.js'
import type { Database, SqlValue } from './database/database.js'

/** A row of a ledger as it moves to another one. */
export interface LedgerRow {
  readonly table: string
  readonly row: Readonly<Record<string, string | number | null>>
}

/** Columns of each table that moves: first those of its key, in the order that rows are inserted. */
const TABLES: Readonly<Record<string, { readonly key: readonly string[]; readonly rest: readonly string[] }>> = {
  jobs: {
    key: ['id'],
    rest: [
      'key grp priority status ready not_before_ms attempts input input_identity output recipe_hash preset',
      'state error receipt published_sha256 created_ms updated_ms',
    ].flatMap((line) => line.split(' ')),
  },
  pauses: { key: ['grp'], rest: ['reason', 'since_ms'] },
  voices: { key: ['key'], rest: ['status', 'cache_path', 'created_ms', 'updated_ms'] },
  voice_attempts: {
    key: ['key', 'attempt'],
    rest: ['file_id', 'status', 'error_code', 'paid_sec', 'charged', 'started_ms', 'ended_ms'],
  },
  spending: { key: ['id'], rest: ['day', 'sec', 'committed', 'created_ms'] },
  limits_learned: { key: ['service', 'error_code', 'property', 'relation', 'value'], rest: ['learned_ms'] },
}

/** Rows of one statement. */
const PAGE = 200

/** The rows of a ledger. A job that a dead process left is ready again. Leases do not move. */
export async function* exportRows(database: Database): AsyncGenerator<LedgerRow> {
  for (const [table, { key, rest }] of Object.entries(TABLES)) {
    const names = [...key, ...rest].map(exported)
    const order = key.join()
    let last: readonly SqlValue[] = []
    do {
      const after = last.length > 0 ? `WHERE (${order}) > (${key.map(() => '?').join()})` : ''
      const rows = await database.all(
        `SELECT ${names.join()} FROM ${table} ${after} ORDER BY ${order} LIMIT ${PAGE}`,
        last,
      )
      for (const row of rows) yield { table, row: row as LedgerRow['row'] }
      const end = rows.at(-1)
      last = rows.length === PAGE && end ? key.map((name) => end[name] ?? null) : []
    } while (last.length > 0)
  }
}

/** Adds the rows that are missing. @returns how many @throws {UsageError} `ERR_USAGE` for another format */
export async function importRows(database: Database, rows: AsyncIterable<LedgerRow>): Promise<number> {
  let created = 0
  let page: LedgerRow[] = []
  const flush = async () => {
    created += await insertPage(database, page)
    page = []
  }
  for await (const row of rows) {
    if (page.length === PAGE || (page[0] && page[0].table !== row.table)) await flush()
    page.push(row)
  }
  await flush()
  return created
}

async function insertPage(database: Database, page: readonly LedgerRow[]): Promise<number> {
  const table = page[0]?.table
  if (table === undefined) return 0
  const { key, rest } = (Object.hasOwn(TABLES, table) && TABLES[table]) || unknownRow()
  const names = [...key, ...rest]
  const values = page.flatMap(({ row }) => names.map((name) => row[name] ?? (name in row ? null : unknownRow())))
  const places = page.map(() => `(${names.map(() => '?').join()})`).join()
  const sql = `INSERT INTO ${table} (${names.join()}) VALUES ${places} ON CONFLICT DO NOTHING`
  return database.transaction(async (tx) => (await tx.run(sql, values)).changes)
}

function exported(name: string): string {
  if (name === 'ready') return 'CASE WHEN lease_token IS NULL THEN ready ELSE 1 END AS ready'
  // Only jobs have this status. Voices and their attempts keep theirs.
  return name === 'status' ? "CASE status WHEN 'working' THEN 'queued' ELSE status END AS status" : name
}

function unknownRow(): never {
  throw new UsageError('ERR_USAGE', 'The file was not written by `voxmux jobs export` of this version.', {
    remedies: ['Export the ledger again with the same version of voxmux, then import that file.'],
  })
}
