import { expect, it } from 'vitest'
import type { MediaInfo } from '../../../src/media/media-info.js'
import { namedContainer } from '../../../src/pipeline/plan/output-format.js'

const media = { path: '/film.mkv', container: 'mkv' } as MediaInfo

it.each([
  ['film.ogv', 'ogg'],
  ['sound.oga', 'ogg'],
  ['book.m4b', 'm4a'],
  ['film.MTS', 'm2ts'],
  ['film.mkv', undefined],
  [undefined, undefined],
])('writes %s in the container %s', (name, container) => {
  expect(namedContainer(media, name)).toBe(container)
})
