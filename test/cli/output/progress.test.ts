import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { stripVTControlCharacters } from 'node:util'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { JobProgress } from '../../../src/cli/output/job-progress.js'
import { fitCells, ProgressBars, TaskbarProgress } from '../../../src/cli/output/progress-bars.js'
import { STAGES } from '../../../src/pipeline/events.js'

it('progress rises from stage to stage and ends at 100', () => {
  const progress = new JobProgress()
  const points = STAGES.flatMap((stage) => [0, 100].map((percent) => progress.take({ stage, percent }, 0).percent))
  expect(points).toEqual([...points].sort((a, b) => a - b))
  expect([points[0], points.at(-1)]).toEqual([0, 100])
})

describe('the progress of a job at the service', () => {
  const sent = () => {
    const progress = new JobProgress()
    progress.take({ stage: 'probe', percent: 0 }, 0)
    progress.take({ stage: 'upload', percent: 100 }, 23_000)
    return progress
  }

  it('says how far the service is, or that it has not reported yet', () => {
    const progress = sent()
    const label = (percent: number) => progress.take({ stage: 'process', percent }, 24_000).label
    expect([0, 8, 40].map(label)).toEqual(['waiting for the service', 'regenerating, 8 %', 'regenerating, 40 %'])
  })

  it('estimates nothing until the service reports its pace, and then goes by it', () => {
    const progress = sent()
    expect(progress.take({ stage: 'process', percent: 0 }, 23_000).leftMs).toBeNull()
    // Ten percent in 100 s: 900 s for the rest, and the stages of this machine at their own second a percent.
    expect(progress.take({ stage: 'process', percent: 10 }, 123_000).leftMs).toBe(900_000 + 37_000)
    expect(progress.take({ stage: 'process', percent: 100 }, 1_023_000).leftMs).toBe(37_000)
  })

  it('takes no pace from what the service did before this run', () => {
    const progress = sent()
    expect(progress.take({ stage: 'process', percent: 60 }, 23_000)).toMatchObject({ leftMs: null })
    expect(progress.take({ stage: 'process', percent: 80 }, 43_000)).toMatchObject({ leftMs: 20_000 + 37_000 })
  })

  it('does not count parts as regenerated because one of them is received', () => {
    const progress = sent()
    expect(progress.take({ stage: 'process', percent: 10 }, 24_000).percent).toBe(27)
    const first = progress.take({ stage: 'download', percent: 10 }, 25_000)
    expect(first).toMatchObject({ percent: 27.8, label: 'regenerating, 10 %' })
  })
})

it('a line never wraps and never commands the terminal', () => {
  expect(fitCells('abcdef', 4)).toBe('abc…')
  expect(fitCells('日本語', 4)).toBe('日…')
  expect(fitCells('a\u001b[2Jb', 20)).toBe('a\\u001b[2Jb')
  expect(fitCells('a\u0007', 10)).toBe('a\\u0007')
})

describe('bars', () => {
  const painted = (columns: number, total: number) => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const stream = Object.assign(new PassThrough(), { isTTY: true, columns, rows: 24 })
    const bars = new ProgressBars(stream as unknown as WriteStream, total)
    const last = () =>
      stripVTControlCharacters(String(stream.read() ?? ''))
        .split('\n')
        .filter(Boolean)
    return { bars, last }
  }
  const bar = { name: 'a-rather-long-name-of-an-interview.mov', percent: 25, label: 'regenerating', leftMs: 80_000 }

  it.each([
    [100, 'a-rather-long-name-of-an-inte… ██████░░░░░░░░░░░░░░░░░░  25 %  0:20, 1:00 left  regenerating'],
    [44, 'a-rathe…  25 % 0:20, 1:00 left regenerating'],
  ])('move each second at %i columns, with the time that is left', (columns, row) => {
    const { bars, last } = painted(columns, 1)
    bars.update('a', bar)
    vi.advanceTimersByTime(100)
    expect(last().at(-1)).toContain(columns === 44 ? '25 % 0:00 regenerating' : '25 %  0:00  regenerating')
    vi.advanceTimersByTime(19_000)
    last()
    vi.advanceTimersByTime(1000)
    expect(last()).toEqual([row])
    bars.stop()
    vi.advanceTimersByTime(5000)
    expect(last()).toEqual([])
  })

  it.each([
    [100, 'a-rather-long-name-of-an-inte… ██████████░░░░░░░░░░░░░░  40 %  0:20, 0:30 left, 3.0x  regenerating'],
    [80, 'a-rather-long-name-of-an… ████░░░░░░  40 %  0:20, 0:30 left, 3.0x  regenerating'],
    [44, 'a-rather-long-…  40 % 0:20, 0:30 left, 3.0x'],
    [34, 'a-rather-l…  40 % 0:20, 0:30 left'],
    [24, 'a-rather-lo…  40 % 0:20'],
  ])('show the speed at %i columns, and drop the least valuable figure first', (columns, row) => {
    const { bars, last } = painted(columns, 1)
    bars.update('a', { ...bar, percent: 40, leftMs: 50_000, soundSec: 150 })
    vi.advanceTimersByTime(19_000)
    last()
    vi.advanceTimersByTime(1000)
    expect(last()).toEqual([row])
    bars.stop()
  })

  it('count down from an estimate, and show none that was wrong', () => {
    const { bars, last } = painted(100, 1)
    vi.advanceTimersByTime(100)
    bars.update('a', { ...bar, leftMs: 30_000, soundSec: 60 })
    vi.advanceTimersByTime(10_100)
    expect(last().at(-1)).toContain('0:10, 0:20 left, 2.0x  regenerating')
    vi.advanceTimersByTime(30_000)
    expect(last().at(-1)).toContain('25 %  0:40  regenerating')
    bars.update('a', { ...bar, leftMs: null })
    vi.advanceTimersByTime(1000)
    expect(last().at(-1)).toContain('25 %  0:41  regenerating')
    bars.stop()
  })

  it('count several files', () => {
    const { bars, last } = painted(100, 8)
    bars.update('a', bar)
    bars.remove('a')
    bars.update('b', bar)
    vi.advanceTimersByTime(61_000)
    expect(last().at(-1)).toBe('1 of 8 files, 1:01')
    bars.stop()
  })

  it('reach the taskbar of a terminal that has one', () => {
    const said = (env: NodeJS.ProcessEnv) => {
      const stream = Object.assign(new PassThrough(), { isTTY: true })
      const taskbar = new TaskbarProgress(stream as unknown as WriteStream, env)
      for (const percent of [1.2, 1.4, 50]) taskbar.show(percent)
      taskbar.clear()
      return String(stream.read() ?? '')
    }
    expect(said({ WT_SESSION: 'x' })).toBe('\u001b]9;4;1;1\u0007\u001b]9;4;1;50\u0007\u001b]9;4;0;0\u0007')
    expect(said({ TERM_PROGRAM: 'iTerm.app', VTE_VERSION: '7600' })).toBe('')
  })
})
