import { expect, it } from 'vitest'
import { ffmpegFailure } from '../../../src/media/ffmpeg/ffmpeg-failure.js'

const codeOf = (stderrTail: string) => ffmpegFailure({ exitCode: 69, signal: null, stderrTail }, 'a.ts').code

it('does not take the words of a decoder at damaged sound for a missing permission', () => {
  expect(codeOf('[error] Error while decoding stream #0:1: Operation not permitted')).toBe('ERR_UNREADABLE')
  expect(codeOf('[error] Error submitting packet to decoder: Operation not permitted')).toBe('ERR_UNREADABLE')
  expect(codeOf('[error] file:a.ts: Operation not permitted')).toBe('ERR_NOT_PERMITTED')
  expect(codeOf('Error while decoding stream #0:1: Invalid data\nfile:a: Permission denied')).toBe('ERR_NOT_PERMITTED')
})

it.each([
  // ffprobe
  ['Audio object type 42 is not implemented. Update it.\nCould not open codec for input stream 0', -7],
  ['[error] Error while opening decoder for input stream #0:0 : Function not implemented', -7],
  ['[error] Error while decoding stream #0:0: Not yet implemented in FFmpeg, patches welcome', -7],
  ['[error] Error while decoding stream #0:0: Not yet implemented in FFmpeg\n[error] Invalid data found', -2],
  ['[error] file:a.wav: Not yet implemented in FFmpeg, patches welcome', -16],
])('tells a codec that ffmpeg does not decode from damaged sound and from a container: %s', (stderrTail, errorCode) => {
  expect(ffmpegFailure({ exitCode: 1, signal: null, stderrTail }, 'a.m4a')).toMatchObject({ errorCode })
})

it('takes an index that asks for more than the free memory for damage, unless the computer has little', () => {
  const words = 'file:a.mp4: Cannot allocate memory'
  const header = `[mov,mp4,m4a,3gp,3g2,mj2 @ 0x1] [error] error reading header\n${words}`
  const codeWith = (stderrTail: string, freeBytes: number) =>
    ffmpegFailure({ exitCode: 1, signal: null, stderrTail }, 'a.mp4', freeBytes).code
  expect(codeWith(words, 2 ** 33)).toBe('ERR_OUT_OF_MEMORY')
  expect(codeWith(header, 2 ** 33)).toBe('ERR_UNREADABLE')
  expect(codeWith(header, 2 ** 30)).toBe('ERR_OUT_OF_MEMORY')
})
