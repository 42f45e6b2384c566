import pc from 'picocolors'
import { expect, it } from 'vitest'
import { fileLine } from '../../src/cli/output/file-line.js'
import { errorReport, InterruptedError } from '../../src/core/errors.js'
import type { FileEvent } from '../../src/pipeline/events.js'

const file: FileEvent = {
  event: 'file',
  id: 'a',
  input: '/in/clip.mov',
  status: 'done',
  output: '/in/clip.regen.mov',
  receipt: '/in/clip.regen.mov.voxmux.json',
  error: null,
}

it('says of an input that was put off what is true of it', () => {
  const error = { code: 'ERR_X' as const, errorCode: null, name: null, message: 'It is away.', remedies: ['Wait.'] }
  const line = (code: `ERR_${string}`) =>
    fileLine({ ...file, status: 'pending', output: null, error: { ...error, code } }, pc.createColors(false), '/in')
  const event = { ...file, status: 'pending', output: null, error: errorReport(new InterruptedError()) } as const
  expect(fileLine(event, pc.createColors(false), '/in')).toMatch(
    /^… clip.mov stopped\. Nothing was lost\.\n {4}→ Run the same command again to continue/,
  )
  const paid = errorReport(new InterruptedError('This run paid for 0:12.000 of voice.'))
  expect(fileLine({ ...event, error: paid }, pc.createColors(false), '/in')).toContain(
    'stopped. Nothing was lost. This run paid for 0:12.000 of voice.\n',
  )
  expect(line('ERR_STILL_RUNNING')).toContain('is still running. It is away.\n    → Wait.')
  expect(line('ERR_CREDITS')).toBe('… clip.mov is waiting. It is away.\n    → Wait.')
})

it('shows the folder of an input that does not exist, because that may be mistyped', () => {
  const message = '/media/in/clip.mov does not exist.'
  const error = { code: 'ERR_INPUT_MISSING' as const, errorCode: null, name: null, message, remedies: [] }
  const event = { ...file, input: '/media/in/clip.mov', status: 'failed', output: null, error } as const
  const line = (cwd: string) => fileLine(event, pc.createColors(false), cwd)
  expect(line('/media')).toBe('✖ in/clip.mov failed: it does not exist.')
  expect(line('/home')).toBe('✖ /media/in/clip.mov failed: it does not exist.')
  const address = { ...event, input: 'https://media.example/clip.mov' }
  expect(fileLine(address, pc.createColors(false), '/home')).toContain('✖ https://media.example/clip.mov failed')
})
