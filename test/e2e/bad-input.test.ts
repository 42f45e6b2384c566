import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultEventSchema } from '../../src/pipeline/events.js'
import { BAD_INPUTS, type BadInput } from '../helpers/bad-inputs.js'
import { runCliInProcess } from '../helpers/command-in-process.js'
import { FaultServer } from '../helpers/fault-server.js'
import { type CliResult, eventsOf, runCli } from '../helpers/voxmux-cli.js'
import { openWorkshop, type Workshop } from '../helpers/workshop.js'

const STACK_TRACE = /^\s+at .+:\d+:\d+\)?$|node:internal|UnhandledPromise|\[object Object\]/m

/** Rows that are also run without --json: a usage error, a wrong path, a refused file, a fault of the service. */
const IN_PLAIN_WORDS = ['ERR_USAGE', 'ERR_INPUT_MISSING', 'ERR_SEVERAL_TRACKS', 'ERR_AUTH_FAILED']

let server: FaultServer
let workshop: Workshop

beforeEach(async () => {
  server = await FaultServer.start()
  workshop = openWorkshop()
})
afterEach(async () => {
  workshop.remove()
  await server.close()
})

describe('bad input', () => {
  it.each(BAD_INPUTS.map((row) => [row.name, row] as const))('%s', async (_name, row) => {
    // A start takes most of the time of a refusal: one row has its own, below.
    const result = await attempt(row, ['--json'], runCliInProcess)
    expectReport(result, row)
    expect(result.exitCode, result.stderr).toBe(row.exitCode)
  })

  const forPeople = BAD_INPUTS.filter(({ code }) => IN_PLAIN_WORDS.includes(code))
  it.each(forPeople.map((row) => [row.name, row] as const))('%s, without --json', async (_name, row) => {
    const run = row.code === 'ERR_INPUT_MISSING' ? runCli : runCliInProcess
    const result = await attempt(row, ['--progress', 'none'], run)
    expect(result.stderr).toMatch(row.says)
    expect(result.stdout).toBe('')
    expect(result.exitCode).toBe(row.exitCode)
  })

  it('a destination nobody may write to: exit 2, nothing sent', async (context) => {
    if (!existsSync('/proc/self')) context.skip('there is no /proc here')
    const row = target('/proc/out.wav', 2, 'ERR_OUTPUT_UNWRITABLE')
    expectReport(await attempt(row, ['--json']), row)
  })

  it('a full disk: exit 4 before anything is paid for', async (context) => {
    const disk = workshop.path('disk')
    mkdirSync(disk)
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', disk], { stdio: 'ignore' })
    } catch {
      context.skip('a small disk can be mounted by root only')
    }
    try {
      const row = target(`${disk}/out.wav`, 4, 'ERR_DISK_FULL')
      expectReport(await attempt(row, ['--json']), row)
    } finally {
      execFileSync('umount', [disk])
    }
  })
})

function target(path: string, exitCode: number, code: string): BadInput {
  const prepare: BadInput['prepare'] = ({ take }) => [take('speech.wav'), '-o', path]
  return { name: path, prepare, exitCode, code, says: /\/proc|media\/disk/ }
}

/** Runs the command on a prepared fault and checks what holds for every one of them. */
async function attempt(
  row: BadInput,
  flags: readonly string[],
  run: typeof runCliInProcess = runCli,
): Promise<CliResult> {
  const args = row.prepare(workshop, server)
  const before = workshop.inventory()
  const service = row.embedded ? {} : server.env
  const result = await run(['run', ...args, ...flags], {
    cwd: workshop.dir,
    env: { ...workshop.env, ...service, ...row.env },
  })
  const said = result.stdout + result.stderr
  expect.soft(said).not.toMatch(STACK_TRACE)
  expect.soft(said).not.toContain(server.env.VOXMUX_CLIENT_SECRET)
  expect.soft(said).not.toContain('not-the-secret')
  expect.soft(workshop.inventory()).toEqual(before)
  expect.soft(server.charges).toBe(0)
  return result
}

/** stdout holds events alone: one result, last, that says why in a sentence, with what to do. */
function expectReport(result: CliResult, row: BadInput): void {
  const events = eventsOf(result)
  expect(events.filter(({ event }) => event === 'result')).toHaveLength(1)
  const report = resultEventSchema.parse(events.at(-1))
  expect.soft(report.exitCode).toBe(row.exitCode)
  const error = report.error ?? report.files[0]?.error
  expect.soft(error).toMatchObject({ code: row.code, errorCode: row.errorCode ?? null })
  expect.soft(error?.message).toMatch(/^\S.*[.?]$/s)
  expect.soft(error?.remedies.length).toBeGreaterThan(0)
  expect.soft([error?.message, ...(error?.remedies ?? [])].join('\n')).toMatch(row.says)
}
