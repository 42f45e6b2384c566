import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import { expect, it, onTestFinished, vi } from 'vitest'
import { COMMANDS } from '../../src/cli/command-table.js'
import { createOutput } from '../../src/cli/output/output.js'
import { ProgressBars } from '../../src/cli/output/progress-bars.js'
import { createReporter } from '../../src/cli/output/reporter.js'
import { overview } from '../../src/cli/show/overview.js'

const terminal = (columns: number) => Object.assign(new PassThrough(), { isTTY: true, columns, rows: columns })

it('prints lines instead of bars in a terminal that cannot move its cursor', () => {
  for (const [term, isMoved] of [
    ['dumb', false],
    ['xterm', true],
  ] as const) {
    vi.stubEnv('TERM', term)
    onTestFinished(() => void vi.unstubAllEnvs())
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const stderr = terminal(80)
    const output = createOutput({
      json: false,
      stdout: stderr as unknown as WriteStream,
      stderr: stderr as unknown as WriteStream,
    })
    const reporter = createReporter(output, 'auto')
    for (const stage of ['probe', 'cut'] as const) {
      reporter.report({ event: 'progress', id: 'j', input: '/a.wav', stage, percent: 0 })
      vi.advanceTimersByTime(500)
    }
    reporter.stop()
    expect(String(stderr.read()).includes('\u001b[')).toBe(isMoved)
  }
})

it('breaks the overview between words at the width of the terminal', () => {
  const wide = overview(COMMANDS)
  for (const columns of [60, 80, 200]) {
    const lines = overview(COMMANDS, columns).split('\n')
    expect(lines.filter((line) => line.length >= columns)).toEqual([])
    expect(lines.join(' ').split(/\s+/)).toEqual(wide.split(/\s+/))
  }
})

it('shows the bars of a terminal that does not know its size', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const stream = terminal(0)
  const bars = new ProgressBars(stream as unknown as WriteStream, 1)
  bars.update('a', { name: 'a.wav', percent: 25, label: 'regenerating', leftMs: null })
  vi.advanceTimersByTime(100)
  bars.stop()
  expect(stripVTControlCharacters(String(stream.read()))).toMatch(/a\.wav +.*25 %/)
})

it('waits at the first row of the bars, which a narrower terminal moves with its text, and gives their place to a note', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const stderr = terminal(80)
  const stream = stderr as unknown as WriteStream
  const output = createOutput({ json: false, stdout: stream, stderr: stream })
  const reporter = createReporter(output, 'auto', () => null, 2)
  reporter.report({ event: 'progress', id: 'j', input: '/a.wav', stage: 'probe', percent: 0 })
  vi.advanceTimersByTime(100)
  const written = () => String(stderr.read() ?? '').replaceAll('\u001b', '^')
  expect(written()).toMatch(/^a\.wav.*\n0 of 2 files.*\n\^\[2A$/)
  output.note('Stopping')
  expect(written()).toBe('^[1G^[0JStopping\n')
  vi.advanceTimersByTime(1000)
  expect(written()).toMatch(/^\^\[1G\^\[0Ja\.wav.*\n0 of 2 files.*\n\^\[2A$/)
  reporter.stop()
  output.note('Stopped')
  expect(written()).toBe('^[1G^[0JStopped\n')
})
