import { describe, expect, it } from 'vitest'
import { isTemporaryName } from '../../../plugins/watch-folder/candidates/temporary-names.js'

describe('isTemporaryName', () => {
  it.each([
    ...[
      'clip.mov.part',
      'clip.mov.PART',
      'clip.tmp',
      'film.mp4.crdownload',
      '~$deck.mov',
      '.clip.mov.4fT2',
      '._clip.mov',
    ],
    ...['clip.mov.aspera', 'Thumbs.db', '.DS_Store', 'clip.mov.filepart', '#recycle'],
  ])('passes over %s', (name) => {
    expect(isTemporaryName(name)).toBe(true)
  })

  it.each(['clip.mov', 'party.mov', '-clip.mov', 'a.part.mov', 'tmp.wav', '🎬 scene 1.mxf'])('takes %s', (name) => {
    expect(isTemporaryName(name)).toBe(false)
  })
})
