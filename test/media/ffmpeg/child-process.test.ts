import { getPriority } from 'node:os'
import { expect, it } from 'vitest'
import { lowerToolPriority, startChild } from '../../../src/media/ffmpeg/child-process.js'

const start = () => startChild({ path: '/bin/sleep', args: ['60'], stdin: 'ignore', stdout: 'ignore' })

it.skipIf(process.platform === 'win32')(
  'has tools give way where that is asked for (not on Windows: no sleep)',
  async () => {
    const before = start()
    lowerToolPriority()
    const after = start()
    const priorityOf = ({ process }: ReturnType<typeof start>) => getPriority(process.pid)
    expect(priorityOf(before)).toBe(getPriority())
    expect(priorityOf(after)).toBeGreaterThan(getPriority())
    for (const child of [before, after]) {
      child.stop()
      expect((await child.ended).signal).toBe('SIGTERM')
    }
  },
)
