import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import pc from 'picocolors'
import { describe, expect, it } from 'vitest'
import { createDaemonReporter } from '../../src/cli/output/daemon-reporter.js'
import { fileLine } from '../../src/cli/output/file-line.js'
import { createOutput } from '../../src/cli/output/output.js'
import { createReporter, type ProgressStyle } from '../../src/cli/output/reporter.js'
import { jobDetails, jobTable } from '../../src/cli/show/describe-job.js'
import { UsageError } from '../../src/core/errors.js'
import type { Job } from '../../src/ledger/index.js'
import { type FileEvent, resultEventSchema } from '../../src/pipeline/events.js'

const file: FileEvent = {
  event: 'file',
  id: 'a',
  input: '/in/clip.mov',
  status: 'done',
  output: '/in/clip.regen.mov',
  receipt: '/in/clip.regen.mov.voxmux.json',
  error: null,
}

function opened(json: boolean, isTTY = false) {
  const stdout = new PassThrough()
  const stderr = Object.assign(new PassThrough(), { isTTY, columns: 80, rows: 24 })
  const streams = { stdout: stdout as unknown as WriteStream, stderr: stderr as unknown as WriteStream }
  const text = (stream: PassThrough) => String(stream.read() ?? '')
  return { stdout, output: createOutput({ json, ...streams }), out: () => text(stdout), err: () => text(stderr) }
}

describe('a name that hides what it is', () => {
  const name = 'clip\u202egpj\u001b[8m\n✔ other.mov'
  const shown = 'clip\\u202egpj\\u001b[8m\\u000a✔ other.mov'
  const colors = pc.createColors(false)

  it('is shown in every message', () => {
    const { output, out, err } = opened(false)
    output.fail(new UsageError('ERR_USAGE', `${name} is wrong.`, { remedies: [`Rename ${name}.`] }))
    expect(err()).toBe(`voxmux: ${shown} is wrong.\n  → Rename ${shown}.\n`)
    output.print('a\u202eb\n\u001b[32mgreen\u001b[39m')
    expect(out()).toBe('a\\u202eb\n\u001b[32mgreen\u001b[39m\n')
    output.note('a\u202eb')
    expect(err()).toBe('a\\u202eb\n')
  })

  it('is shown on the line of a file and of a job', () => {
    const error = { code: 'ERR_X' as const, errorCode: null, name: null, message: `${name} is odd.`, remedies: [name] }
    const event = { ...file, input: `/in/${name}`, status: 'failed', output: null, error } as const
    expect(fileLine(event, colors, '/in')).toBe(`✖ ${shown} failed: ${shown} is odd.\n    → ${shown}`)
    const job = { id: 'a', status: 'failed', updatedMs: 0, input: `/in/${name}`, output: null, error } as unknown as Job
    expect(jobTable([job], 0)).toContain(`  /in/${shown}\n    ✖ ${shown} is odd.`)
  })

  it('stays exact in JSON', () => {
    const { output, out } = opened(true)
    output.event({ ...file, input: `${name}\u009b` })
    const line = out()
    // A terminal obeys these, and JSON.stringify leaves them alone.
    expect(line).not.toMatch(/[\u202e\u009b]/)
    expect(JSON.parse(line)).toMatchObject({ input: `${name}\u009b` })
  })
})

describe('with --json', () => {
  it('writes exactly one result, the last line, whatever is said after it', async () => {
    const { output, out, err } = opened(true)
    output.event({ ...file })
    output.print('for people')
    output.result({ exitCode: 0, files: [file] })
    output.event({ ...file })
    output.fail(new UsageError('ERR_USAGE', 'Too late.'))
    await output.close(2)
    const lines = out()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { event: string })
    expect(lines.map(({ event }) => event)).toEqual(['file', 'result'])
    const result = resultEventSchema.parse(lines[1])
    expect(result).toMatchObject({ id: 'a', done: 1, status: 'done', output: file.output, receipt: file.receipt })
    expect(err()).toContain('Too late.')
  })

  it('writes a result also where nobody did', async () => {
    const { output, out } = opened(true)
    await output.close(130)
    expect(resultEventSchema.parse(JSON.parse(out()))).toMatchObject({ exitCode: 130, files: [], status: null })
  })

  it('outlives a reader that has gone', async () => {
    const { output, stdout } = opened(true)
    stdout.destroy(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }))
    await new Promise((resolve) => setImmediate(resolve))
    output.event({ ...file })
    await expect(output.close(0)).resolves.toBe(0)
  })
})

describe('the reporter', () => {
  const told = (style: ProgressStyle, json: boolean, isTTY: boolean) => {
    const { output, err } = opened(json, isTTY)
    const reporter = createReporter(output, style)
    reporter.report({ event: 'progress', id: 'a', input: file.input, stage: 'mux', percent: 10 })
    reporter.report({ event: 'progress', id: 'a', input: file.input, stage: 'mux', percent: 50 })
    reporter.report(file)
    reporter.stop()
    return err()
  }

  it('writes a line a stage where there is no terminal', () => {
    expect(told('auto', false, false)).toMatch(/^clip\.mov: muxing\n.*clip\.mov → .*clip\.regen\.mov\n$/)
  })

  it.each([
    ['none', false],
    ['none', true],
    ['auto', true],
  ] as const)('writes only how a file ended with --progress %s if --json is %s', (style, json) => {
    expect(told(style, json, true)).toMatch(/^[^\n]*clip\.regen\.mov\n$/)
  })

  it('takes its bars away in a terminal', () => {
    expect(told('auto', false, true)).toMatch(/clip\.mov → .*clip\.regen\.mov\n$/)
  })
})

describe('the reporter of a daemon', () => {
  const begun = (json: boolean, isTTY: boolean, options = {}) => {
    const { output, err } = opened(json, isTTY)
    return { reporter: createDaemonReporter(output, options), err }
  }

  it('tells a journal with --log human how each file ended, and what is wrong, without stages', () => {
    const { reporter, err } = begun(false, false, { log: 'human' })
    reporter.logger.info({ spool: 'a.json', jobs: 1 }, 'taken from the spool')
    reporter.logger.info({ job: '01J', group: 'g', attempt: 1 }, 'job begins')
    reporter.report({ event: 'progress', id: '01J', input: '/in/clip.mov', stage: 'mux', percent: 1 })
    const remedies = ['Check after.webhook.']
    reporter.logger.warn({ job: '01J', source: '/in/clip.mov', remedies }, 'after.webhook failed for /in/clip.mov.')
    reporter.report({ ...file, id: '01J', input: '/in/clip.mov', status: 'done', output: '/out/clip.mov' })
    expect(stripVTControlCharacters(err()).split('\n')).toEqual([
      '! after.webhook failed for /in/clip.mov.',
      '    → Check after.webhook.',
      expect.stringMatching(/^✔ clip\.mov → .*out\/clip\.mov$/),
      '',
    ])
  })

  it('tells people why a file is deferred with --json too, which has no event for that', () => {
    const { reporter, err } = begun(true, true)
    const job = { job: '01J', input: '/in/clip.mov', code: 'ERR_DISK_FULL' }
    reporter.logger.info({ ...job, stage: 'mux' }, 'stage done')
    reporter.logger.warn(job, '/in/clip.mov will be retried: Not enough space.')
    expect(err()).toBe('! /in/clip.mov will be retried: Not enough space.\n')
  })

  it('tells a person in a terminal what happens in sentences, each once, and nothing that the bars show', () => {
    const { reporter, err } = begun(false, true)
    const { logger } = reporter
    const job = { job: '01J', input: '/in/clip.mov' }
    logger.info({ folder: '/in', out: '/in/out', preset: 'podcast' }, 'watching')
    logger.info({ url: 'http://127.0.0.1:8780/' }, 'The dashboard is at http://127.0.0.1:8780/')
    logger.info({ input: '/in/half\u001b[2J.mov', why: 'hollow' }, 'waits: part of it is nothing but zeros')
    logger.info({ ...job, folder: '/in' }, 'queued')
    logger.info({ ...job, group: 'g', attempt: 1 }, 'job begins')
    logger.info({ job: '01J', stage: 'mux' }, 'stage done')
    logger.warn({ ...job, code: 'ERR_X' }, '/in/clip.mov is tried again later: The service is away.')
    const error = { code: 'ERR_X' as const, errorCode: null, name: null, message: 'It is away.', remedies: [] }
    const waits = { ...file, input: '/in/clip.mov', status: 'pending' } as const
    for (const message of ['It is away.', 'It is away.', '/in/clip.mov has changed.', 'It is away.'])
      reporter.report({ ...waits, error: { ...error, message } })
    reporter.report({ ...waits, error: { ...error, code: 'ERR_INTERRUPTED' } })
    const refused = { ...file, id: '01J', input: '/in/clip.mov', status: 'rejected' } as const
    reporter.report({ ...refused, error: { ...error, remedies: ['Wait.'] } })
    reporter.report({
      ...refused,
      error: { ...error, code: 'ERR_INPUT_CHANGED', remedies: ['Wait until it is complete.'] },
    })
    logger.warn({ folder: '/in' }, '/in is not there. Its files wait until this is repaired.')
    reporter.stop()
    expect(stripVTControlCharacters(err()).split('\n')).toEqual([
      'watching /in → /in/out (podcast)',
      'The dashboard is at http://127.0.0.1:8780/',
      'half\\u001b[2J.mov: waits: part of it is nothing but zeros',
      '… clip.mov is waiting, and voxmux will retry it. It is away.',
      '… clip.mov is waiting, and voxmux will retry it: it has changed.',
      '… clip.mov is waiting, and voxmux will retry it. It is away.',
      '… clip.mov continues at the next start.',
      '✖ clip.mov was refused. It is away.',
      '    → Wait.',
      expect.stringMatching(/^ {4}→ Fix the cause, then run: voxmux jobs retry 01J\. Add/),
      '✖ clip.mov was refused. It is away.',
      '    → Wait until it is complete.',
      expect.stringMatching(/^ {4}→ A watch folder takes the present version by itself\. For any other job/),
      '! /in is not there. Its files wait until this is repaired.',
      '',
    ])
  })
})

it('lists jobs with headings, age, output and error, and shows one without its JSON', () => {
  const done = { id: 'A', status: 'done', updatedMs: 0, input: '/in/a.mov', output: '/out/a.mov', error: null }
  const why = { code: 'ERR_FILE_FAILED', errorCode: -3, name: null, message: 'No voice.', remedies: ['Use another.'] }
  const failed = { ...done, id: 'B', status: 'failed', updatedMs: 90_000, input: '/in/b.mov', error: why }
  const rows = jobTable([done, failed] as Job[], 3 * 3_600_000).split('\n')
  expect(rows.map((row) => row.replace(/ +/g, ' '))).toEqual([
    'job status age file',
    'A done 3 h /in/a.mov',
    ' → /out/a.mov',
    'B failed 2 h /in/b.mov',
    ' ✖ No voice.',
  ])
  const state = { receipt: { voices: [{ fileId: 'voice-1' }] } }
  const shown = jobDetails({
    ...failed,
    ...{ receipt: null, preset: 'podcast', group: 'run', state },
    createdMs: 0,
  } as never)
  expect(shown).toMatch(/error +ERR_FILE_FAILED: No voice\.\n +→ Use another\.\n/)
  expect(shown).toMatch(/file id +voice-1$/)
  expect(shown).not.toContain('{')
})
