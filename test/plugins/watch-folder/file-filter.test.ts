import { describe, expect, it } from 'vitest'
import {
  createFileFilter,
  type FileFilterOptions,
  globPattern,
} from '../../../plugins/watch-folder/candidates/file-filter.js'
import { markerPath } from '../../../plugins/watch-folder/candidates/marker.js'

describe('globPattern', () => {
  it.each([
    ['*.mov', 'clip.mov', true],
    ['*.mov', 'day 1/clip.mov', true],
    ['*.mov', 'clip.mov.xmp', false],
    ['/*.mov', 'day/clip.mov', false],
    ['day*/*.mov', 'day 1/clip.mov', true],
    ['day*/*.mov', 'day 1/cam/clip.mov', false],
    ['**/cam/**', 'a/b/cam/c/clip.mov', true],
    ['**/cam/*.wav', 'cam/clip.wav', true],
    ['*.{mov,mp4}', 'a.mp4', true],
    ['*.{mov,m?4}', 'a.mp4', true],
    ['take?.wav', 'take🎬.wav', true],
    ['a+(b).wav', 'a+(b).wav', true],
    ['a.wav', 'abwav', false],
    ['line\nbreak*', 'line\nbreak.mov', true],
  ])('%j and %j: %s', (glob, path, expected) => {
    expect(globPattern(glob).test(path)).toBe(expected)
  })
})

describe('createFileFilter', () => {
  const filter = (options: Partial<FileFilterOptions> = {}) =>
    createFileFilter({ include: [], exclude: [], marker: null, renamedFrom: null, ...options })

  it.each([
    [{}, ['clip.mov', 'sub/CLIP.MXF', '-x.wav'], ['notes.txt', 'clip.mov.part', '._clip.mov', 'clip.mov.voxmux.json']],
    [{ include: ['*.raw'] }, ['a.raw', 'b/c.raw'], ['a.mov', '.a.raw', 'a.raw.tmp']],
    [{ exclude: ['proxy/**'] }, ['a.mov'], ['proxy/a.mov']],
    [{ renamedFrom: 'uploading-{name}' }, ['a.mov'], ['uploading-a.mov']],
    [{ include: ['**'], marker: '{name}.ok' }, ['a.mov'], ['a.mov.ok']],
  ])('%j', (options, taken, passedOver) => {
    const takes = filter(options)
    expect(taken.filter((path) => !takes(path))).toEqual([])
    expect(passedOver.filter(takes)).toEqual([])
  })
})

describe('markerPath', () => {
  it('names the marker beside a file, whatever its name holds', () => {
    expect(markerPath('{name}.done', 'sub/clip.mov')).toBe('sub/clip.mov.done')
    expect(markerPath('{name}.done', '$&.mov')).toBe('$&.mov.done')
  })
})
