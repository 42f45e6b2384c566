import { afterAll, beforeAll, it } from 'vitest'
import { FILE_ROWS } from './file-rows.js'
import { REQUEST_ROWS } from './request-rows.js'
import type { Row } from './row.js'
import type { Target } from './target.js'

/** Every testable sentence of the interface. */
export const ROWS: readonly Row[] = [...REQUEST_ROWS, ...FILE_ROWS]

/** Sentences of the interface, against one target. Ends with a table of which are kept. */
export function interfaceSuite(open: () => Promise<Target>, rows = ROWS): void {
  let target: Target
  const kept = new Map<string, boolean>()

  beforeAll(async () => {
    target = await open()
  })

  afterAll(async () => {
    await target.close()
    const lines = [...kept].map(([line, isKept]) => `${isKept ? 'kept  ' : 'BROKEN'}  ${line}`)
    process.stdout.write(`\nThe interface, as kept by ${target.name}:\n${lines.join('\n')}\n`)
  })

  it.each(rows)('$section: $sentence', async ({ section, sentence, check }) => {
    const line = `${section.padEnd(20)} ${sentence}`
    kept.set(line, false)
    await check(target)
    kept.set(line, true)
  })
}
