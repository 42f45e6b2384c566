import { expect, it } from 'vitest'
import { ffmpegFailure } from '../../../src/media/ffmpeg/ffmpeg-failure.js'

const codeOf = (stderrTail: string) => ffmpegFailure({ exitCode: 69, signal: null, stderrTail }, 'a.ts').code

it('does not take the words of a decoder at damaged sound for a missing permission', () => {
  expect(codeOf('[error] Error while decoding stream #0:1: Operation not permitted')).toBe('ERR_UNREADABLE')
  expect(codeOf('[error] Error submitting packet to decoder: Operation not permitted')).toBe('ERR_UNREADABLE')
  expect(codeOf('[error] file:a.ts: Operation not permitted')).toBe('ERR_NOT_PERMITTED')
  expect(codeOf('Error while decoding stream #0:1: Invalid data\nfile:a: Permission denied')).toBe('ERR_NOT_PERMITTED')
})
