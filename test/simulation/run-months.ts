import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { MOST_PARTS } from './parts.js'

/** Months in which a defect has to be found. */
export const MONTHS_FOR_A_DEFECT = 200
const CONFIG = fileURLToPath(new URL('defects/vitest.config.ts', import.meta.url))

export interface MonthsToRun {
  readonly months: number
  /** Name of a defect that is put back first. */
  readonly defect?: string
}

/** Simulates the months of the seeds from 1 on, on all cores. @returns the sentence of a promise that is broken; null: none is */
export async function runMonths({ months, defect = '' }: MonthsToRun): Promise<string | null> {
  const parts = Math.min(MOST_PARTS, availableParallelism())
  const tests = Array.from({ length: parts }, (_, at) =>
    fileURLToPath(new URL(`months-${at + 1}.test.ts`, import.meta.url)),
  )
  const own = { VOXMUX_SOAK: '', VOXMUX_MONTHS: String(months), VOXMUX_PARTS: String(parts), VOXMUX_DEFECT: defect }
  const env = { ...process.env, ...own }
  const options = ['--config', CONFIG, '--bail', '1', '--maxWorkers', String(parts)]
  const child = spawn('npx', ['vitest', 'run', ...options, ...tests], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [said, complaints, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise((resolve, reject) => child.on('error', reject).on('close', resolve)),
  ])
  const sentence = /^Seed \d+ breaks "[^\n]+/m.exec(said)?.[0] ?? null
  if (sentence === null && code !== 0) throw new Error(`The months could not be simulated:\n${said}\n${complaints}`)
  return sentence
}
