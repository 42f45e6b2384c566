/**
 * `npm run bench credentials FOLDER [PATTERN]`: regenerates and signs each file of a folder, and prints how verification
 * and two validators of Content Credentials see the output.
 */
import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { openSignedSweep, type SignedRow } from '../helpers/signed-sweep.js'

const COLUMNS = ['file', 'end', 'carrier', 'state', 'stranger', 'parent', 'kept', 'different', 'failures'] as const

const [folder, pattern = ''] = process.argv.slice(3)
if (folder === undefined) {
  process.stdout.write('npm run bench credentials FOLDER [PATTERN]: name a folder of media files.\n')
} else {
  process.stdout.write(`| ${COLUMNS.join(' | ')} |\n|${COLUMNS.map(() => ' --- |').join('')}\n`)
  const sweep = await openSignedSweep()
  const rows: SignedRow[] = []
  try {
    for (const name of (await readdir(folder)).sort()) {
      if (!new RegExp(pattern).test(name) || !/\.\w+$/.test(name) || /\.(tsv|md|ts)$/.test(name)) continue
      const row = await sweep.sign(join(resolve(folder), name))
      rows.push(row)
      process.stdout.write(`| ${COLUMNS.map((column) => String(row[column] ?? '–')).join(' | ')} |\n`)
    }
  } finally {
    await sweep.close()
  }
  const signed = rows.filter(({ end }) => end === 'signed')
  const count = (test: (row: SignedRow) => boolean) => signed.filter(test).length
  process.stdout.write(
    `\n${rows.length} files: ${signed.length} signed (${count(({ carrier }) => carrier === 'sidecar')} with a sidecar), ` +
      `${rows.length - signed.length} refused; ${count(({ failures }) => failures.length > 0)} with a mismatch, ` +
      `${count(({ different }) => different > 0)} with other packets, ` +
      `${count(({ parent }) => parent !== null)} with credentials in the input ` +
      `(${count(({ parent }) => parent === 'valid' || parent === 'trusted')} of them valid)\n`,
  )
}
