import { mapTexts, type PathRoots } from './jobs/path-roots.js'
import type { Ledger } from './ledger.js'
import type { LedgerRow } from './ledger-rows.js'

/** The rows of a shared ledger with the paths of this machine. */
export function mappedRows(rows: Ledger['rows'], roots: PathRoots): Ledger['rows'] {
  return {
    export: () => mapped(rows.export(), (text) => roots.toHere(text)),
    import: (more) => rows.import(mapped(more, (text) => roots.toStore(text))),
  }
}

async function* mapped(rows: AsyncIterable<LedgerRow>, map: (text: string) => string): AsyncGenerator<LedgerRow> {
  for await (const { table, row } of rows) {
    const { state } = row
    const within = typeof state === 'string' && { state: JSON.stringify(mapTexts(JSON.parse(state), map)) }
    yield table === 'jobs' || table === 'pauses' ? { table, row: { ...mapTexts(row, map), ...within } } : { table, row }
  }
}
